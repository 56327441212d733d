//! Where a server listens, as it is written: `8080`, `:8080`, `localhost:8080`, `0.0.0.0:8080`.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

/// Reads an address. A port alone is on loopback, where only this machine reaches it; a host is looked up.
///
/// # Errors
/// What to write instead.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let accepted =
        "write a port (`8080`) or an address with one (`localhost:8080`, `0.0.0.0:8080`)";
    let port = text.rsplit_once(':').map(|(_, port)| port);
    if port.is_none_or(|port| port.parse::<u16>().is_err()) {
        return Err(accepted.to_owned());
    }
    let found = text
        .to_socket_addrs()
        .map_err(|_| format!("the host is not found: {accepted}"))?;
    let mut found: Vec<SocketAddr> = found.collect();
    // Callers that write a name try IPv4 too, and many try nothing else.
    found.sort_by_key(SocketAddr::is_ipv6);
    let first = found.first().copied();
    first.ok_or_else(|| format!("the host has no address: {accepted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_hosts_become_addresses() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("0.0.0.0:0", "0.0.0.0:0"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            let parsed = parse(text).expect(text).to_string();
            assert_eq!(parsed, address, "{text}");
        }
    }

    #[test]
    fn what_names_no_port_is_refused_with_what_to_write() {
        for text in [
            "",
            "nowhere",
            "localhost",
            "localhost:",
            "localhost:99999",
            "0.0.0.0",
        ] {
            let refused = parse(text).expect_err(text);
            assert!(refused.contains("`8080`"), "{text}: {refused}");
        }
    }
}
