//! A connection to the server that comes back by itself, and on which nothing waits without end.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, FromRedisValue,
    IntoConnectionInfo, Pipeline, RedisConnectionInfo, RedisError, ServerErrorKind, Value,
};
use tokio::time::{sleep, timeout};

use super::error::failed;
use crate::config::RedisSettings;
use crate::error::Result;
use crate::online::versioned::error::no_answer_within;

/// How long a call waits before it tries again: at first, and at most.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// Commands on their way that wait for the socket; more wait in their callers.
const QUEUED_COMMANDS: usize = 1_024;

/// How long unanswered bytes are waited for before the connection counts as dead.
const DEAD_AFTER: Duration = Duration::from_secs(10);

type Answer<T> = std::result::Result<T, RedisError>;

/// A connection that is made once for all who wait for it.
type Connecting = Shared<BoxFuture<'static, Answer<MultiplexedConnection>>>;

/// One multiplexed connection: replies come in the order of their commands, and one whose caller is gone is read and
/// dropped, so that it reaches nobody else.
#[derive(Clone)]
pub(super) struct Connection {
    client: Client,
    config: AsyncConnectionConfig,
    current: Arc<Mutex<Option<Connecting>>>,
    deadline: Duration,
}

impl Connection {
    /// A connection that is made when it is first used. Every call on it ends within `deadline`.
    pub(super) fn new(settings: &RedisSettings, deadline: Duration) -> Result<Self> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(settings.connect_deadline))
            .set_response_timeout(None)
            .set_pipeline_buffer_size(QUEUED_COMMANDS);
        let client = Client::open(address(settings)?).map_err(failed)?;
        Ok(Self {
            client,
            config,
            current: Arc::default(),
            deadline,
        })
    }

    /// Asks what can be asked twice: when the connection breaks, again over a new one, until the deadline.
    pub(super) async fn read(&self, command: &Cmd) -> Result<Value> {
        self.answer(Work::Twice(command)).await
    }

    /// As [`Connection::read`], with an answer of this type.
    pub(super) async fn read_as<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        typed(self.read(command).await?)
    }

    /// Asks once: when the connection breaks, nobody knows whether it was done.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        typed(self.answer(Work::Once(command)).await?)
    }

    /// Sends many commands at once, and waits until all are acknowledged.
    pub(super) async fn send(&self, commands: &Pipeline) -> Result<()> {
        self.answer(Work::All(commands)).await.map(|_| ())
    }

    /// Connects as often as it takes, until the deadline.
    async fn answer(&self, work: Work<'_>) -> Result<Value> {
        let mut last = None;
        let answer = timeout(self.deadline, self.answer_without_end(work, &mut last)).await;
        match (answer, last) {
            (Ok(answer), _) => answer.map_err(failed),
            (Err(_), Some(error)) => Err(failed(error)),
            (Err(_), None) => Err(no_answer_within(self.deadline)),
        }
    }

    async fn answer_without_end(
        &self,
        work: Work<'_>,
        last: &mut Option<RedisError>,
    ) -> Answer<Value> {
        let mut delay = RETRY_DELAYS.0;
        loop {
            let connecting = self.connecting();
            let (answer, may_go_on) = match connecting.clone().await {
                Ok(mut connection) => (work.send(&mut connection).await, work.may_be_sent_again()),
                Err(error) => {
                    self.forget(&connecting);
                    (Err(error), true)
                }
            };
            let error = match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if is_broken(&error) {
                self.forget(&connecting);
            }
            if !may_go_on || !(is_broken(&error) || is_loading(&error)) {
                return Err(error);
            }
            *last = Some(error);
            sleep(delay).await;
            delay = (delay * 2).min(RETRY_DELAYS.1);
        }
    }

    fn connecting(&self) -> Connecting {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let connecting = current.get_or_insert_with(|| {
            let (client, config) = (self.client.clone(), self.config.clone());
            async move {
                client
                    .get_multiplexed_async_connection_with_config(&config)
                    .await
            }
            .boxed()
            .shared()
        });
        connecting.clone()
    }

    /// Lets the next call connect anew, unless another one did already.
    fn forget(&self, broken: &Connecting) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current
            .as_ref()
            .is_some_and(|current| current.ptr_eq(broken))
        {
            *current = None;
        }
    }
}

/// What is sent.
#[derive(Clone, Copy)]
enum Work<'a> {
    Once(&'a Cmd),
    Twice(&'a Cmd),
    All(&'a Pipeline),
}

impl Work<'_> {
    async fn send(self, connection: &mut MultiplexedConnection) -> Answer<Value> {
        match self {
            Self::Once(command) | Self::Twice(command) => {
                let answer = connection.send_packed_command(command).await;
                answer.and_then(Value::extract_error)
            }
            Self::All(commands) => commands.exec_async(connection).await.map(|()| Value::Okay),
        }
    }

    const fn may_be_sent_again(self) -> bool {
        matches!(self, Self::Twice(_))
    }
}

fn typed<T: FromRedisValue>(value: Value) -> Result<T> {
    T::from_redis_value(value).map_err(|error| failed(error.into()))
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

fn is_broken(error: &RedisError) -> bool {
    error.is_io_error() || error.is_unrecoverable_error()
}

fn is_loading(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::BusyLoading)
}

fn address(settings: &RedisSettings) -> Result<ConnectionInfo> {
    let place = &settings.place;
    let (host, port) = (place.host.clone(), place.port);
    let address = match place.tls {
        true => ConnectionAddr::TcpTls {
            host,
            port,
            insecure: false,
            tls_params: None,
        },
        false => ConnectionAddr::Tcp(host, port),
    };
    let mut user = RedisConnectionInfo::default()
        .set_db(place.database)
        .set_skip_set_lib_name();
    if let Some(name) = &place.user {
        user = user.set_username(name);
    }
    if let Some(password) = &settings.password {
        user = user.set_password(password.reveal());
    }
    let keepalive = TcpKeepalive::new().with_time(DEAD_AFTER);
    let tcp = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(keepalive);
    #[cfg(target_os = "linux")]
    let tcp = tcp.set_user_timeout(DEAD_AFTER);
    let info = address.into_connection_info().map_err(failed)?;
    Ok(info.set_redis_settings(user).set_tcp_settings(tcp))
}
