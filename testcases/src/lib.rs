//! The test-case language and the plan it is resolved to.
//!
//! A [`Suite`] is what a YAML file says; a [`Script`] is one trial of one of its cases with every quantity worked out:
//! plain data that both executors run. No code and no expressions in either.
//!
//! Invariant: nothing here reads a clock or a source of randomness; only the reader touches files.

pub mod amount;
mod app;
pub mod case;
mod container;
pub mod device_verb;
pub mod found;
pub mod macsec;
pub mod measure;
pub mod middlebox;
pub mod nic;
pub mod read;
mod resolve;
pub mod roce;
pub mod running;
mod schema;
pub mod script;
mod send_order;
pub mod stretch;
pub mod vocabulary;
pub mod window;
pub mod wire;

pub use amount::{Amount, Lookup};
pub use app::{AppKey, AppStep};
pub use case::{Case, CaseId, Expect, Spared, Suite, Sweep};
pub use container::{Container, Memory};
pub use device_verb::DeviceVerb;
pub use found::Accepts;
pub use macsec::{MacsecMode, Protection, Secured, Takes, Tamper};
pub use measure::Measure;
pub use middlebox::{Bottleneck, Injected, Injection, Middlebox, Passing, Target, Which};
pub use nic::{Flow, FlowSpec, Verb};
pub use read::read;
pub use roce::{CnpFault, Roce, RoceKind};
pub use schema::schema;
pub use script::{
    Action, EndpointSpec, PfcFrames, PfcOdd, Script, Step, StormSpec, StreamKind, StreamRate,
    StreamSpec, Tap,
};
pub use send_order::{SendOrder, SendPlace};
pub use stretch::Proportion;
pub use vocabulary::{Vocabulary, Wanted};
pub use window::Window;

/// A plan carries the declared configuration it was made for; who reads a plan needs no other crate for it.
pub use rig_lab::file;
pub use rig_lab::{
    Action as WatchdogAction, Backlog, CipherSuite, Declared, Form, IpVersion, Keys, Macsec, Part,
    Policy as MacsecPolicy, RuleFamily, Secret, Setting, Switch, SwitchingMode,
};
