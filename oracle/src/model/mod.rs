//! The model: a discrete-event engine and the devices in it, in virtual time.
//!
//! A [`Network`] is built from a [`Topology`]; it is run, acted on and read in turns:
//!
//! ```
//! use rig_oracle::model::{self, Dir, PacketKind, Network, Packet, Storm, Stream, Topology, host, link};
//! use rig_testcases::MacsecMode;
//! use rig_units::{Dur, Pace, PortSpeed, Quanta, Time};
//!
//! let switch = model::switch::Config::plain(2, PortSpeed::G100);
//! let cable = link::Config::ethernet(PortSpeed::G100, 5);
//! let mut network: Network = Network::new(&Topology::star(switch, host::Config::quiet(), cable), Time::ZERO);
//! // Host 0 sends class 3 to host 1, which pauses it every 100 us.
//! let pace = Pace::every(Dur::us(1));
//! let stream = Stream { id: 7, kind: PacketKind::Data, names: 7, first: 0, address: 0, class: 3, dscp: 3, size: 1024, pace, dst: 1, count: None, ect: false, ce: false, record: true, pcp: None, macsec_mode: MacsecMode::Usual };
//! let storm = Storm { id: 8, enable: 1 << 3, zero: 0, quanta: Quanta::MAX, every: Dur::us(100), count: None, macsec_mode: MacsecMode::Usual };
//! network.start_stream(0, &stream);
//! network.start_storm(1, &storm);
//! let mut received = 0;
//! let mut tap = |_: Time, host: u16, dir: Dir, _: &Packet| received += u64::from((host, dir) == (1, Dir::Rx));
//! network.run_until(Time::ZERO + Dur::ms(1), &mut tap);
//! assert_eq!(received, 0);
//! let view = network.queue_view(1, 3);
//! assert_eq!((view.pfc_rx_pkts, view.paused), (10, true));
//! ```
//!
//! - [`Network::run_until`] handles every event strictly before an instant, [`Network::run_through`] those at it too;
//!   both make it the present. Control calls act at the present and send nothing before the next run.
//! - Hosts are the rig's ports: streams, storms, single frames; they obey PFC. Every frame that passes one is reported
//!   to a [`Tap`].
//! - [`dut::Dut`] is the device under test as a whole: a network of its devices, their watchdogs and their configuration.
//! - Watchdogs poll [`Network::queue_view`] and act through `ignore_pfc`, `drop_ingress`, `drop_egress`,
//!   `discard_backlog`, `hold_xoff` and `leak`.
//!
//! Invariants: nothing here reads a clock or a file, or draws a number but by a seed and a
//! name; events come out by time and then by the
//! structural id of their source, so that a change of scheduling inside cannot change a result; memory grows with what
//! is queued, not with what was sent. No code is shared with the closed forms that the model is judged by.

pub mod alarm;
pub mod bench;
pub mod blue_rdma;
pub mod buffer;
pub(crate) mod chance;
pub mod classify;
pub mod counters;
pub mod dut;
pub mod egress;
pub mod host;
pub mod link;
pub mod mac;
pub mod memories;
pub mod middlebox;
pub mod network;
pub mod nic;
pub mod oscillator;
pub mod packet;
pub mod pfc_gen;
pub mod pfcwd;
pub mod queue;
pub mod ring;
mod rounding;
pub mod secy;
pub mod switch;
pub mod tap;
pub mod topology;
pub mod wred;

pub use counters::QueueView;
pub use host::{Storm, Stream};
pub use network::{Network, Shortcuts, Work};
pub use packet::{Packet, PacketKind, Tag};
pub use tap::{Dir, NoTap, Tap};
pub use topology::{Cable, End, PortId, Topology};
