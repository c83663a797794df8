//! Frames as large as the device takes, no sooner one after the other than its ports carry them: a case that sends others is not for it, and of
//! a sweep of sizes those that do not fit are left out.

use super::unfit::{Missing, Unfit};
use rig_lab::Profile;
use rig_testcases::{Case, StreamRate, Sweep};
use rig_units::{Bytes, Dur, PortSpeed};
use std::borrow::Cow;

/// The case as far as its frames fit; what it does without is added to `left_out`.
///
/// # Errors
/// What it sends that is longer than the device takes.
pub(super) fn of<'a>(
    profile: &Profile,
    case: &'a Case,
    left_out: &mut Vec<String>,
) -> Result<Cow<'a, Case>, Unfit> {
    let mtu = profile.declared.mtu();
    let long = |what: String| Missing::Lab.so(format!("{what}, and it takes frames up to {mtu}"));
    let packets = case.flows.values().map(|flow| (flow.mtu, flow.headers()));
    let longest = packets.max_by_key(|(payload, headers)| *payload + *headers);
    if let Some((payload, headers)) = longest.filter(|&(payload, headers)| payload + headers > mtu)
    {
        return Err(long(format!("packets of {payload} and headers of {headers} are sent")));
    }
    let is_swept = |name: &str| {
        case.sweep.iter().any(|one| matches!(one, Sweep::Size { stream, .. } if stream == name))
    };
    // One after the other: where something else varies, too, a stream has its own size there.
    let has_own = |name: &str| !is_swept(name) || case.sweep.len() > 1;
    let own = case.streams.iter().filter(|(name, _)| has_own(name));
    if let Some(size) = own.map(|(_, stream)| stream.size).find(|size| *size > mtu) {
        return Err(long(format!("frames of {size} are sent")));
    }
    let mut fitting = Cow::Borrowed(case);
    for at in 0..case.sweep.len() {
        let Sweep::Size { stream, sizes } = &case.sweep[at] else { continue };
        let (fit, not): (Vec<Bytes>, Vec<Bytes>) = sizes.iter().partition(|size| **size <= mtu);
        if not.is_empty() {
            continue;
        }
        let not = not.iter().map(Bytes::to_string).collect::<Vec<_>>().join(", ");
        if fit.is_empty() {
            return Err(long(format!("frames of {not} are sent")));
        }
        left_out.push(format!("frames of {not} in {stream}: it takes them up to {mtu}"));
        fitting.to_mut().sweep[at] = Sweep::Size { stream: stream.clone(), sizes: fit };
    }
    Ok(fitting)
}

/// The case as far as its ports are fast enough for the streams that send a frame each so often; what it does without is added to `left_out`.
///
/// # Errors
/// What comes too soon after what came before it.
pub(super) fn paced(
    profile: &Profile,
    mut case: Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    // Of ports of other speeds each has its own.
    if case.sweep.iter().any(|one| matches!(one, Sweep::Speed { .. })) {
        return Ok(case);
    }
    let sweeps = case.sweep.len();
    let dut_ports = case.dut_ports(&profile.declared).unwrap_or_default();
    let rig_ports = case.rig_ports();
    let paced = case.streams.iter().filter_map(|(name, stream)| {
        let StreamRate::Every(gap) = stream.rate else { return None };
        let own = |port: &String| {
            let at = rig_ports.iter().position(|name| name == port)?;
            profile.declared.port_speed(*dut_ports.get(at)?)
        };
        let speed = own(&stream.from)?;
        // What comes to a slower port sooner than it goes on waits there, and a case that asks for no speeds means none of it.
        let to = own(&stream.to).filter(|_| case.ports.is_empty());
        Some((name.clone(), (stream.size, gap, to.map_or(speed, |to| speed.min(to)))))
    });
    let paced: Vec<(String, (Bytes, Dur, PortSpeed))> = paced.collect();
    let late = |sizes: &[Bytes], (gap, speed): (Dur, PortSpeed)| {
        let most = sizes.iter().max()?;
        let slot = speed.slot(*most);
        (slot > gap).then(|| format!("{most} every {gap}, which take {slot} at {speed}"))
    };
    for (name, (size, gap, speed)) in paced {
        let swept = case.sweep.iter_mut().find_map(|one| match one {
            Sweep::Size { stream, sizes } if *stream == name => Some(sizes),
            _ => None,
        });
        // One after the other: where something else varies, too, a stream has its own size there.
        let own = late(&[size], (gap, speed)).filter(|_| swept.is_none() || sweeps > 1);
        if let Some(late) = own {
            return Err(Missing::Lab.so(format!("{name} sends frames of {late}")));
        }
        let Some(sizes) = swept else { continue };
        let Some(why) = late(sizes, (gap, speed)) else { continue };
        let why = format!("{name} sends frames of {why}");
        sizes.retain(|size| speed.slot(*size) <= gap);
        if sizes.is_empty() {
            return Err(Missing::Lab.so(why));
        }
        left_out.push(format!("what comes too soon: {why}"));
    }
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Setting;
    use rig_oracle::measure;

    /// What becomes of a case whose stream and flow are so long, on a device that takes frames up to `mtu`.
    fn fit(kind: &str, mtu: u64, text: &str) -> Result<(Case, Vec<String>), String> {
        let text = format!(
            "about: a\ndevice: {kind}\ncases:\n  one:\n    why: a\n    source: [a]\n    trials: 1\n    length: 9ms\n{text}"
        );
        let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
        let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let name = if kind == "nic" { "gen2" } else { "broadcom" };
        let mut dut = lab.duts.into_iter().find(|dut| dut.name == name).expect("a device");
        let setting = Setting { path: "mtu".to_owned(), value: format!("{mtu}B").into() };
        dut.declared = dut.declared.with(&setting).expect("a size");
        let mut left_out = Vec::new();
        let case = of(&dut, &case, &mut left_out).map_err(|unfit| unfit.why)?.into_owned();
        Ok((case, left_out))
    }

    fn swept(sweep: &str) -> String {
        format!(
            "    streams: {{load: {{from: p1, to: p2, class: 3, kind: udp, size: 1500B, every: 1ms, count: 9}}}}\n    steps: [{{at: 0ms, start: load}}]\n{sweep}    measure: [{{loss: {{stream: load, expect: none}}}}]\n"
        )
    }

    #[test]
    fn a_frame_that_is_a_byte_too_long_is_no_fault_of_the_file() {
        let one = |mtu| fit("switch", mtu, &swept("")).map(|(_, left_out)| left_out);
        assert_eq!(one(1_500), Ok(Vec::new()));
        let why = "frames of 1500B are sent, and it takes frames up to 1499B";
        assert_eq!(one(1_499), Err(why.to_owned()));
    }

    #[test]
    fn of_a_sweep_the_sizes_that_fit_are_run() {
        let sweep = swept("    sweep: {streams.load.size: [128B, 1522B, 9000B]}\n");
        let of = |mtu| fit("switch", mtu, &sweep);
        let sizes = |case: &Case| match &case.sweep[..] {
            [Sweep::Size { sizes, .. }] => sizes.iter().map(|size| size.0).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let (all, none) = of(9_000).expect("it fits");
        assert_eq!((sizes(&all), none), (vec![128, 1_522, 9_000], Vec::new()));
        let (some, left_out) = of(1_522).expect("some fit");
        assert_eq!(sizes(&some), [128, 1_522]);
        assert_eq!(left_out, ["frames of 9000B in load: it takes them up to 1522B"]);
        assert_eq!(sizes(&of(1_521).expect("one fits").0), [128]);
        of(127).expect_err("none fits");
    }

    #[test]
    fn a_frame_that_comes_before_the_one_ahead_of_it_is_over_is_no_fault_of_the_file() {
        let of = |every: &str, sweep: &str| {
            let text = swept(sweep).replace("every: 1ms", &format!("every: {every}"));
            let (case, _) =
                fit("switch", 9_216, &text).expect("it is no longer than the device takes");
            let lab = rig_lab::read::lab(None).expect("the bundled lab");
            let mut left_out = Vec::new();
            let case = paced(&lab.duts[0], case, &mut left_out).map_err(|unfit| unfit.why);
            (case.map(|case| case.sweep), left_out)
        };
        // 1520 B at 100 Gb/s are 121.6 ns.
        assert_eq!(of("121600ps", ""), (Ok(Vec::new()), Vec::new()));
        let why = "load sends frames of 1500B every 121.599ns, which take 121.6ns at 100Gbps";
        assert_eq!(of("121599ps", ""), (Err(why.to_owned()), Vec::new()));
        // Of a sweep what fits is sent.
        let (some, left_out) = of("121599ps", "    sweep: {streams.load.size: [128B, 1500B]}\n");
        let sizes = vec![Bytes(128)];
        assert_eq!(some, Ok(vec![Sweep::Size { stream: "load".to_owned(), sizes }]));
        assert_eq!(left_out, [format!("what comes too soon: {why}")]);
    }

    #[test]
    fn a_packet_and_its_headers_have_to_fit() {
        let flow = "    flows: {flow: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}\n    steps: [{at: 0ms, start: flow, for: 1ms}]\n    measure: [{rate.follows: {flow: flow}}]\n";
        let of = |mtu| fit("nic", mtu, flow).map(|(_, left_out)| left_out);
        assert_eq!(of(1_102), Ok(Vec::new()));
        let why = of(1_101).expect_err("a byte too long");
        assert!(why.contains("and headers of 78B are sent"), "{why}");
    }
}
