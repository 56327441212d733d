//! `nightfill`: the command line of a feature store with batch precompute.
//!
//! ```text
//!   arguments --args--> verb --project--> definitions and stores --pipelines, serving--> output
//! ```
//!
//! One file a verb in `verbs`; a verb reads top to bottom. Answers go to standard output, all else to standard error;
//! the exit code is 0 when all is fine, 1 when the work failed, 2 when the command line cannot be read.

#![forbid(unsafe_code)]

mod answer;
mod args;
mod changes;
mod hints;
mod listen;
mod logging;
mod numbers;
mod output;
mod pretty;
mod progress;
mod project;
mod request;
mod scratch;
mod verbs;

use std::process::ExitCode;

use crate::args::Arguments;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::read();
    logging::start(arguments.verb.stays_up());
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::failure(&error);
            ExitCode::FAILURE
        }
    }
}

/// Of each thread: the engine calls itself for each level of an expression.
const STACK: usize = 8 << 20;

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK)
        .enable_all()
        .build()?;
    runtime.block_on(verbs::run(arguments))
}
