//! `nightfill serve`: where it listens.

use std::net::TcpListener;

use crate::harness::shop;

#[test]
fn a_port_that_is_taken_says_so_and_names_the_option() {
    let project = shop();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    for listen in [
        port.clone(),
        format!(":{port}"),
        format!("localhost:{port}"),
    ] {
        let said = project.fail(&["serve", "--listen", &listen]);
        let expected = format!("port {port} of 127.0.0.1 is taken");
        assert!(
            said.contains(&expected) && said.contains("`--listen`"),
            "{said}"
        );
    }
}
