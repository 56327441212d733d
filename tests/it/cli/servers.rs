//! `nightfill serve`: where it listens.

use std::net::TcpListener;

use crate::harness::{finish, nightfill, shop, stderr};

#[test]
fn the_demo_listens_where_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = |listen: &str| {
        let mut command = nightfill(&["demo", "--once", "--listen", listen]);
        command.current_dir(folder.path());
        finish(command)
    };
    let free = demo("127.0.0.1:0");
    assert!(free.status.success(), "{}", stderr(&free));
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let refused = demo(&port);
    assert_eq!(refused.status.code(), Some(1));
    let said = stderr(&refused);
    assert!(
        said.contains(&format!("port {port} of 127.0.0.1 is taken")) && said.contains("`--listen`"),
        "{said}"
    );
}

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
