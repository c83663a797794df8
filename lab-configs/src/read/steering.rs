//! Reading through what a device is steered, and where that is.

use crate::walk::{At, Fields};
use crate::yaml::Value;
use crate::{ControlName, RedisAt, Transport};

/// Through what a device is steered, and where that is.
pub(super) struct Steering<'w> {
    /// Where the lab names the control.
    pub(super) at: At<'w>,
    pub(super) control: ControlName,
    /// Where the redis of its databases listens.
    pub(super) redis: Option<RedisAt>,
    /// Whether its ports may take storms.
    pub(super) disposable: bool,
}

/// Through what a device is steered; the inner `None` where the lab does not say.
pub(super) fn steering<'w>(fields: &Fields<'w>) -> Option<Option<Steering<'w>>> {
    const BESIDE: &str = "`control: sonic` beside it, or no `redis`";
    let control = fields.maybe("control", |at| Some((at.choice(&ControlName::NAMES)?, at)));
    let redis = fields.maybe("redis", |at| {
        let text = at.text(RedisAt::WANT)?;
        text.parse().map_err(|want: String| at.wrong(want.trim_start_matches("want "))).ok()
    });
    let disposable = fields.or("disposable", false, |at| match at.node.value {
        Value::Bool(may) => Some(may),
        _ => {
            at.wrong("true where the ports of this switch may take storms, or false");
            None
        }
    });
    let (control, redis): (Option<(ControlName, At<'w>)>, Option<RedisAt>) = (control?, redis?);
    let disposable = disposable?;
    if !matches!(control, Some((ControlName::Sonic, _))) {
        let at = fields.get("disposable");
        let want = "`control: sonic` beside it, or no `disposable`";
        at.iter().for_each(|at| at.at_key("the rig asks here for no consent", want));
    }
    let Some((control, at)) = control else {
        fields.get("redis").iter().for_each(|at| at.at_key("nothing asks a redis here", BESIDE));
        return Some(None);
    };
    match (control, &redis) {
        (ControlName::Sonic, _) | (_, None) => {
            Some(Some(Steering { at, control, redis, disposable }))
        }
        (_, Some(_)) => {
            let redis = fields.get("redis");
            redis.iter().for_each(|at| at.at_key("this control asks no redis", BESIDE));
            None
        }
    }
}

/// Whether a redis is named where there is one, and none where the rig starts it.
pub(super) fn listens(steering: &Steering<'_>, transport: &Transport) {
    let Steering { at, control, redis, .. } = steering;
    match (transport, redis) {
        _ if *control != ControlName::Sonic => {}
        (Transport::Veth(_), Some(_)) => {
            let want = "no `redis`, or `transport: interfaces`";
            at.fault("at virtual interfaces the rig starts the redis of a stand-in itself", want);
        }
        (Transport::Interfaces(_), None) => {
            at.fault("the control `sonic` without a redis", format!("redis: {}", RedisAt::WANT));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::ControlName;
    use crate::read::tests::{faults_of_lab, lab_of};

    const LAB: &str = "about: a\ntransport: interfaces\ncable: 3m\nduts: [{DUT}]\nwire: {interfaces: [eth1], bound: 1ms, budget: 9s}\n";

    #[test]
    fn a_switch_with_sonic_has_a_redis_and_nothing_else_has_one() {
        let sonic =
            |device: &str| LAB.replace("DUT", &format!("profile: duts/broadcom.yaml, {device}"));
        let read = lab_of(&sonic("control: sonic, redis: 'unix:/near.sock'"));
        let at = "unix:/near.sock".parse().expect("a place");
        assert_eq!(
            (read.control(&read.duts[0]), read.redis.get("broadcom")),
            (ControlName::Sonic, Some(&at))
        );
        assert!(!read.is_disposable(&read.duts[0]));
        let given = lab_of(&sonic("control: sonic, redis: 'unix:/near.sock', disposable: true"));
        assert!(given.is_disposable(&given.duts[0]));
        let faults: String = [
            "control: sonic",
            "control: sonic, redis: near.sock",
            "control: none, redis: 'tcp:leaf:6379'",
            "redis: 'tcp:leaf:6379'",
            "control: none, disposable: true",
            "control: sonic, redis: 'tcp:leaf:6379', disposable: maybe",
        ]
        .map(|device| faults_of_lab(&sonic(device)))
        .join("\n");
        insta::assert_snapshot!(faults);
    }

    #[test]
    fn at_virtual_interfaces_the_rig_starts_the_redis_of_a_switch_with_sonic() {
        let lab = |beside: &str| {
            let wire = "{speed: 1Gbps, ports: 4, bound: 1ms, budget: 9s}";
            let dut = format!("profile: duts/broadcom.yaml, control: sonic{beside}");
            format!("about: a\ntransport: veth\ncable: 3m\nduts: [{{{dut}}}]\nwire: {wire}\n")
        };
        let read = lab_of(&lab(""));
        assert_eq!((read.control(&read.duts[0]), read.redis.len()), (ControlName::Sonic, 0));
        assert!(read.is_disposable(&read.duts[0]), "the rig made it");
        let faults = faults_of_lab(&lab(", redis: 'unix:/near.sock'"));
        assert!(faults.contains("the rig starts the redis of a stand-in itself"), "{faults}");
    }
}
