//! Labs and DUT profiles: the language, its reader and the configuration types of a device under test.
//!
//! A profile has two faces. [`Declared`] is what an operator configured and a vendor documented: all that the
//! spec, the plan and the analysers may see. [`Actual`] is how the emulated device departs from it: only the model
//! and the emulated adapters may see that, and a test over the repository enforces it.
//!
//! Invariant: nothing here reads a clock or a source of randomness; only [`read`] and [`yaml`] touch files.

mod ack_timeout;
mod adaptive;
pub mod buffer;
mod bundled;
mod check;
pub mod declare;
pub mod declared;
pub mod deviation;
mod dynamic_buffer;
mod estats;
pub mod ets;
pub mod fault;
pub mod field;
pub mod fields;
pub mod file;
pub mod file_kind;
#[cfg(feature = "fixture")]
mod fixture;
mod flex_counter;
pub mod keys;
mod kind;
pub mod lab;
pub mod macsec;
mod memories;
pub mod nic;
mod nic_host;
mod nic_pfc;
pub mod nics;
mod paced;
pub mod part;
pub mod pfc;
pub mod pfcwd;
pub mod ports;
pub mod profile;
pub mod qos;
pub mod read;
mod reboot;
mod recovery;
mod redis_at;
mod sample;
pub mod scheduler;
pub mod schema;
pub mod settings;
pub mod switch;
mod switching_mode;
pub mod system;
pub mod walk;
pub mod watermark;
pub mod wred;
pub mod yaml;

pub use ack_timeout::AckTimeout;
pub use adaptive::Adaptive;
pub use buffer::{Accounting, Buffer, Crossing};
pub use declared::Declared;
pub use deviation::{
    BlueRdmaFaults, BufferFaults, ClockFaults, Deviation, DeviceFaults, DynamicBufferFaults,
    EtsFaults, FlexCounterFaults, MacsecFaults, NicFaults, NicPfcFaults, NpFaults, PfcFaults,
    PfcwdFaults, RcFaults, RdmaRouterFaults, RebootFaults, RpFaults, SchedulerFaults, Switched,
    WredFaults,
};
pub use dynamic_buffer::{DynamicBuffer, SizedBy, SizedFrom};
pub use estats::Estats;
pub use ets::{Ets, Selection};
pub use fault::{Fault, Place};
pub use flex_counter::{FlexCounter, FlexGroup};
pub use keys::{Keys, Secret};
pub use kind::Kind;
pub use lab::{
    Backend, ControlName, DpdkWire, ExchangeWay, Guests, Interfaces, IpVersion, Lab, OtherEnd,
    Server, ServerEnd, Transport, Veth,
};
pub use macsec::{CipherSuite, Form, Macsec, PfcMode, Policy, Reception};
pub use memories::Memories;
pub use nic::{EcnField, Limiting, Nic, Np, Rc, Receive, Rp, Scope};
pub use nic_host::NicHost;
pub use nic_pfc::NicPfc;
pub use nics::Nics;
pub use part::Part;
pub use pfc::Pfc;
pub use pfcwd::{Action, Backlog, Charge, ConfigPath, DropBy, Pfcwd, RuleFamily};
pub use ports::{PortGroup, Ports};
pub use profile::{Actual, Mutation, Profile, Rule};
pub use qos::Qos;
pub use reboot::{Reboot, RebootKind};
pub use recovery::Recovery;
pub use redis_at::RedisAt;
pub use sample::sample;
pub use scheduler::{Scheduler, Scheduling};
pub use schema::{schema_dut, schema_lab};
pub use settings::{BadSetting, Setting};
pub use switch::Switch;
pub use switching_mode::SwitchingMode;
pub use system::{DevicePort, Hop, System, SystemLink};
pub use watermark::{Watermark, WatermarkCopy};
pub use wred::{Color, Curve, DepthUnit, DrawRule, EcnMode, Marking, Wred};

/// Whether `word` can be the name of a case, a device or a stream: lower case, digits and single dashes.
pub fn is_name(word: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    word.split('-').all(part)
}
