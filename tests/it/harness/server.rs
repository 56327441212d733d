//! A running `nightfill serve`, and HTTP to it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::Project;

/// A server process; it is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: String,
    agent: ureq::Agent,
}

impl Server {
    /// Starts a server on a free port and waits until it listens.
    pub(crate) fn start(project: &Project) -> Self {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--format", "json"];
        let mut child = project
            .command(&arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut text = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        while !text.ends_with("}\n") {
            let read = out.read_line(&mut text).expect("a readable pipe");
            assert!(read > 0, "the server ended early: {text}");
        }
        let told: Value = serde_json::from_str(&text).expect("JSON");
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(20)))
            .http_status_as_error(false)
            .build();
        Self {
            child,
            address: told["address"].as_str().expect("an address").to_owned(),
            agent: config.into(),
        }
    }

    /// Posts a body; the status and the JSON of the answer.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.post_text(path, &body.to_string())
    }

    /// Posts a text, which need not be JSON; the status and the JSON of the answer.
    pub(crate) fn post_text(&self, path: &str, body: &str) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let sent = self
            .agent
            .post(url)
            .header("content-type", "application/json")
            .send(body);
        let mut response = sent.expect("an answer");
        let text = response.body_mut().read_to_string().expect("a body");
        let json = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        (response.status().as_u16(), json)
    }

    /// Posts a body that must be answered with 200; the JSON of the answer.
    pub(crate) fn ask(&self, path: &str, body: &Value) -> Value {
        let (status, json) = self.post(path, body);
        assert_eq!(status, 200, "{json}");
        json
    }

    /// Gets a path; the status and the text of the answer.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let got = self
            .agent
            .get(format!("http://{}{path}", self.address))
            .call();
        let mut response = got.expect("an answer");
        let text = response.body_mut().read_to_string().expect("a body");
        (response.status().as_u16(), text)
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for it to end; whether it did so with exit code 0.
    pub(crate) fn wait(mut self) -> bool {
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
