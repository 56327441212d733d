//! Servers that tests need, by the URLs that `tests/run` hands them. A test whose server is not there says that it is
//! skipped; where `REQUIRE_BACKENDS` is set it fails.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use feature_defs::time::Stopwatch;
use object_store::ObjectStoreExt;
use object_store::path::Path as ObjectPath;
use sqlx::any::install_default_drivers;
use sqlx::{AssertSqlSafe, Connection, Executor, raw_sql};

use crate::objects::Objects;

/// How long a server may take to start.
const STARTED_WITHIN: Duration = Duration::from_secs(30);

/// The URL of an empty schema of a PostgreSQL server. `None` when there is no server.
///
/// # Panics
/// When there is none and there has to be one, or it does not make a schema.
pub async fn postgres_schema() -> Option<String> {
    let filled = postgres_filled("").await?;
    Some(filled.url)
}

/// A schema of a PostgreSQL server that a test has filled.
#[derive(Debug, Clone)]
pub struct FilledSchema {
    /// Its URL: names alone are in it.
    pub url: String,
    /// Its name.
    pub name: String,
}

/// A schema of a PostgreSQL server in which `statements` have run. `None` when there is no server.
///
/// # Panics
/// When there is none and there has to be one, or it does not do what it is told.
#[allow(clippy::expect_used)] // for tests
pub async fn postgres_filled(statements: &str) -> Option<FilledSchema> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = url("NIGHTFILL_TEST_POSTGRES", "PostgreSQL")?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let schema = format!("test_{}_{count}", std::process::id());
    install_default_drivers();
    let mut connection = sqlx::AnyConnection::connect(&server)
        .await
        .expect("a server that answers");
    let make = format!("CREATE SCHEMA {schema}; SET search_path TO {schema}; {statements}");
    connection
        .execute(raw_sql(AssertSqlSafe(make)))
        .await
        .expect("a schema");
    Some(FilledSchema {
        url: format!("{server}?options=-csearch_path%3D{schema}"),
        name: schema,
    })
}

/// A place in object storage that a test has for itself.
#[derive(Debug, Clone)]
pub struct TestBucket {
    /// Its URL.
    pub url: String,
    /// The settings that find it, as variables of the environment.
    pub settings: Vec<(String, String)>,
    objects: Objects,
}

impl TestBucket {
    /// The place, opened.
    #[must_use]
    pub const fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Writes an object.
    ///
    /// # Panics
    /// When the server refuses.
    #[allow(clippy::expect_used)] // for tests
    pub async fn put(&self, path: &str, bytes: impl Into<Bytes>) {
        let store = self.objects.store();
        let put = store
            .put(
                &ObjectPath::parse(path).expect("a path"),
                bytes.into().into(),
            )
            .await;
        put.expect("an object");
    }

    /// Writes all files below a folder, with their paths there below `to`.
    ///
    /// # Panics
    /// When a file cannot be read, or the server refuses.
    #[allow(clippy::expect_used)] // for tests
    pub async fn put_folder(&self, folder: &Path, to: &str) {
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let below = path.strip_prefix(folder).expect("below");
                let object = Path::new(to).join(below);
                let bytes = fs::read(&path).expect("a file");
                self.put(object.to_str().expect("UTF-8"), bytes).await;
            }
        }
    }

    /// Takes an object away.
    ///
    /// # Panics
    /// When the server refuses.
    #[allow(clippy::expect_used)] // for tests
    pub async fn delete(&self, path: &str) {
        let store = self.objects.store();
        store
            .delete(&ObjectPath::parse(path).expect("a path"))
            .await
            .expect("deleted");
    }
}

/// An empty place of an S3 server. `None` when there is no server.
///
/// # Panics
/// When there is none and there has to be one.
#[allow(clippy::expect_used)] // for tests
#[must_use]
pub fn s3_bucket() -> Option<TestBucket> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = url("NIGHTFILL_TEST_S3", "S3 server")?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let place = format!("s3://nightfill/test {}/{count}", std::process::id());
    let settings = [
        ("AWS_ENDPOINT_URL", server.as_str()),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let objects = Objects::with_settings(&place, settings.clone()).expect("a place");
    Some(TestBucket {
        url: place,
        settings: settings.to_vec(),
        objects,
    })
}

/// Servers that speak Redis' protocol: the variables that hold their URLs (with `_SERVER` after it, the path of the
/// program), and their names.
pub const REDIS_SERVERS: [(&str, &str); 2] = [
    ("NIGHTFILL_TEST_REDIS", "Redis"),
    ("NIGHTFILL_TEST_VALKEY", "Valkey"),
];

/// The URLs of the servers that speak Redis' protocol, of those that are there.
///
/// # Panics
/// When one is not there and has to be.
#[must_use]
pub fn redis_urls() -> Vec<String> {
    let urls = REDIS_SERVERS.iter();
    urls.filter_map(|(variable, server)| url(variable, server))
        .collect()
}

/// A namespace of its own in each of these servers, as projects name it.
///
/// # Panics
/// When one is not there and has to be.
#[must_use]
pub fn redis_places() -> Vec<String> {
    let urls = redis_urls().into_iter();
    urls.map(|url| format!("{url}?namespace={}", redis_namespace()))
        .collect()
}

/// A namespace that no other test uses.
#[must_use]
pub fn redis_namespace() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("test_{}_{count}", std::process::id())
}

/// A Redis or Valkey server of one test's own, which may be killed and started again. It ends with this value.
#[derive(Debug)]
pub struct OwnRedis {
    program: PathBuf,
    folder: PathBuf,
    options: Vec<String>,
    port: u16,
    process: Child,
}

impl OwnRedis {
    /// Starts one of each that is there, with these options.
    ///
    /// # Panics
    /// When one is not there and has to be, or does not start.
    #[must_use]
    pub fn start_all(folder: &Path, options: &[&str]) -> Vec<Self> {
        let mut started = Vec::new();
        for (variable, name) in REDIS_SERVERS {
            if let Some(program) = url(&format!("{variable}_SERVER"), name) {
                let folder = folder.join(name);
                started.push(Self::start(program.into(), folder, options));
            }
        }
        started
    }

    /// Starts a Redis that also takes encrypted connections, on the port that is given back, with a certificate for
    /// `localhost` by the authority in `folder/ca.crt`. `None` where there is no Redis.
    ///
    /// # Panics
    /// When one is not there and has to be, or does not start; without `openssl`.
    #[must_use]
    #[allow(clippy::expect_used)] // for tests
    pub fn start_with_tls(folder: &Path) -> Option<(Self, u16)> {
        let (variable, name) = REDIS_SERVERS[0];
        let program = url(&format!("{variable}_SERVER"), name)?;
        let made = Command::new("sh")
            .args(["-ec", CERTIFICATES])
            .current_dir(folder)
            .stderr(Stdio::null())
            .status();
        assert!(made.expect("a shell").success(), "no certificates");
        let port = free_port();
        let tls_port = port.to_string();
        let options = ["--tls-port", &tls_port, "--tls-auth-clients", "no"];
        let files = [
            "--tls-cert-file",
            "server.crt",
            "--tls-key-file",
            "server.key",
        ];
        let authority = ["--tls-ca-cert-file", "ca.crt"];
        let options = [&options[..], &files, &authority].concat();
        Some((
            Self::start(program.into(), folder.to_owned(), &options),
            port,
        ))
    }

    #[allow(clippy::expect_used)] // for tests
    fn start(program: PathBuf, folder: PathBuf, options: &[&str]) -> Self {
        std::fs::create_dir_all(&folder).expect("a folder");
        let port = free_port();
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let process = spawn(&program, &folder, &options, port);
        Self {
            program,
            folder,
            options,
            port,
            process,
        }
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills it, at once.
    ///
    /// # Panics
    /// When it does not end.
    #[allow(clippy::expect_used)] // for tests
    pub fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("ended");
    }

    /// Starts it again, with what it kept on disk.
    pub fn restart(&mut self) {
        self.process = spawn(&self.program, &self.folder, &self.options, self.port);
    }
}

impl Drop for OwnRedis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[allow(clippy::expect_used)] // for tests
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("a port").port()
}

/// Makes an authority, and a certificate by it.
const CERTIFICATES: &str = "
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=tests
openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost
echo 'subjectAltName=DNS:localhost' > names
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 2 -extfile names
";

/// Starts a server, and waits until it takes connections.
#[allow(clippy::expect_used)] // for tests
fn spawn(program: &Path, folder: &Path, options: &[String], port: u16) -> Child {
    let process = Command::new(program)
        .args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
        ])
        .arg("--dir")
        .arg(folder)
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a server that starts");
    let watch = Stopwatch::start();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            watch.elapsed() < STARTED_WITHIN,
            "{} does not start",
            program.display()
        );
        std::thread::yield_now();
    }
    process
}

#[allow(clippy::print_stderr)] // a skipped test says so
fn url(variable: &str, server: &str) -> Option<String> {
    let url = std::env::var(variable).ok();
    if url.is_none() {
        let required = std::env::var_os("REQUIRE_BACKENDS").is_some();
        assert!(!required, "{server} is required: run with `tests/run`");
        eprintln!("SKIPPED: no {server} (`{variable}` is not set; `tests/run` starts one)");
    }
    url
}
