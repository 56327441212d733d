//! A connection to the server that comes back by itself, and on which nothing waits without end.

use std::fmt;
use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{
    Client, Cmd, ConnectionAddr, ConnectionInfo, FromRedisValue, IntoConnectionInfo, Pipeline,
    RedisConnectionInfo, RedisError, Value,
};
use tokio::time::{sleep, timeout};

use super::error::{failed, no_answer_within};
use crate::config::RedisSettings;
use crate::error::Result;

/// How long the first attempt to connect again waits, and how long a later one does at most.
const RECONNECT_DELAYS: (Duration, Duration) =
    (Duration::from_millis(10), Duration::from_millis(200));

/// Attempts to connect before those who wait are told; the next call starts anew.
const CONNECT_ATTEMPTS: usize = 8;

/// How long a read waits before it is sent again over a new connection.
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// Commands on their way that wait for the socket; more wait in their callers.
const QUEUED_COMMANDS: usize = 1_024;

/// How long unanswered bytes are waited for before the connection counts as dead.
const DEAD_AFTER: Duration = Duration::from_secs(10);

/// One multiplexed connection: replies come in the order of their commands, and one whose caller is gone is read and
/// dropped, so that it reaches nobody else.
#[derive(Clone)]
pub(super) struct Connection {
    manager: ConnectionManager,
    deadline: Duration,
}

impl Connection {
    /// A connection that is made when it is first used. Every call on it ends within `deadline`.
    pub(super) fn new(settings: &RedisSettings, deadline: Duration) -> Result<Self> {
        let config = ConnectionManagerConfig::new()
            .set_min_delay(RECONNECT_DELAYS.0)
            .set_max_delay(RECONNECT_DELAYS.1)
            .set_number_of_retries(CONNECT_ATTEMPTS)
            .set_connection_timeout(Some(settings.connect_deadline))
            .set_response_timeout(None)
            .set_pipeline_buffer_size(QUEUED_COMMANDS);
        let client = Client::open(address(settings)?).map_err(failed)?;
        let manager = ConnectionManager::new_lazy_with_config(client, config).map_err(failed)?;
        Ok(Self { manager, deadline })
    }

    /// Asks what can be asked twice: when the connection breaks, again over a new one, until the deadline.
    pub(super) async fn read(&self, command: &Cmd) -> Result<Value> {
        let answer = async {
            loop {
                let mut manager = self.manager.clone();
                match manager.req_packed_command(command).await {
                    Err(error) if is_broken(&error) => sleep(RETRY_DELAY).await,
                    answer => return answer.and_then(Value::extract_error),
                }
            }
        };
        self.within_deadline(answer).await
    }

    /// As [`Connection::read`], with an answer of this type.
    pub(super) async fn read_as<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        let value = self.read(command).await?;
        T::from_redis_value(value).map_err(|error| failed(error.into()))
    }

    /// Asks once: when the connection breaks, nobody knows whether it was done.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        let mut manager = self.manager.clone();
        self.within_deadline(async { command.query_async(&mut manager).await })
            .await
    }

    /// Sends many commands at once, and waits until all are acknowledged.
    pub(super) async fn send(&self, commands: &Pipeline) -> Result<()> {
        let mut manager = self.manager.clone();
        self.within_deadline(async { commands.exec_async(&mut manager).await })
            .await
    }

    async fn within_deadline<T>(
        &self,
        answer: impl Future<Output = std::result::Result<T, RedisError>>,
    ) -> Result<T> {
        match timeout(self.deadline, answer).await {
            Ok(answer) => answer.map_err(failed),
            Err(_) => Err(no_answer_within(self.deadline)),
        }
    }
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
