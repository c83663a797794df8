//! The path MTU that two ends of a connection have agreed on, beside the one that a case counts its packets by.

use rig_testcases::FlowSpec;

/// What a case has of it, of one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathMtu {
    pub(super) mtu: u32,
    pub(super) message: u32,
}

impl PathMtu {
    /// That of a flow.
    pub(super) fn of(spec: &FlowSpec) -> PathMtu {
        PathMtu { mtu: spec.mtu, message: spec.message }
    }

    /// Why packets are not as long as the case has them where the ends have agreed on so many bytes, if they are not.
    pub(super) fn missed(self, agreed: u16) -> Option<String> {
        let PathMtu { mtu, message } = self;
        let agreed = u32::from(agreed);
        (message.min(agreed) != message.min(mtu)).then(|| {
            format!(
                "both ends agreed on a path MTU of {agreed} B, and the case counts packets of {mtu} B: the MTU of the NIC's interface is what its \
                 profile declares (mtu)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_another_length_are_told_and_messages_that_fit_one_either_way_are_not() {
        let of = |message| PathMtu { mtu: 4_096, message };
        assert_eq!(of(16_384).missed(4_096), None);
        let why = of(16_384).missed(1_024).expect("four packets for one");
        assert!(why.starts_with("both ends agreed on a path MTU of 1024 B"), "{why}");
        assert_eq!(of(1_024).missed(1_024), None);
        assert!(of(1_025).missed(1_024).is_some());
        assert!(PathMtu { mtu: 1_024, message: 4_096 }.missed(4_096).is_some());
    }
}
