//! Of which container a flow is, where containers share a NIC behind a software RDMA router, and what it wants of that.

use indexmap::IndexMap;
use rig_lab::Declared;
use rig_units::L2Rate;

/// Whose flow it is. `N` is what names another flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Container<N> {
    /// Its number; flows of which nothing is said are all of number 1.
    pub number: u8,
    /// What memory its messages name.
    pub memory: Memory,
    /// What it may send; `None`: what the router lets everybody send.
    pub cap: Option<L2Rate>,
    /// The flow whose messages it goes on with over a connection of its own, once its container has moved.
    pub takes_over: Option<N>,
    /// Whether the device may refuse it, by what it is declared to be: then nothing of it is sent.
    pub may_be_refused: bool,
}

/// What memory the messages of a flow name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Some that was registered before anybody looked, and that its host has announced.
    Registered,
    /// Some that the container registers first, when the flow starts.
    New,
    /// Some at the other end, by an R_Key that no host has announced.
    Unknown,
}

impl Memory {
    /// Their names in YAML.
    pub const NAMES: [(&str, Memory); 3] =
        [("registered", Memory::Registered), ("new", Memory::New), ("unknown", Memory::Unknown)];
}

impl<N> Container<N> {
    /// What a flow is of which nothing is said.
    pub const USUAL: Container<N> = Container {
        number: 1,
        memory: Memory::Registered,
        cap: None,
        takes_over: None,
        may_be_refused: false,
    };
}

impl Container<String> {
    /// The same on a device, with the place of the other flow among `flows`.
    pub(crate) fn on<T>(&self, device: &Declared, flows: &IndexMap<String, T>) -> Container<u16> {
        let Container { number, memory, cap, ref takes_over, .. } = *self;
        let place = |name: &String| u16::try_from(flows.get_index_of(name)?).ok();
        let takes_over = takes_over.as_ref().and_then(place);
        let router = device.nics().and_then(|nics| nics.rdma_router);
        let quota = router.is_some_and(|router| router.quota.is_some());
        let may_be_refused = quota || memory == Memory::Unknown;
        Container { number, memory, cap, takes_over, may_be_refused }
    }
}
