//! The steps of a trial in words, for pages and for `rigctl explain`.

use rig_capture::Unit;
use rig_lab::Setting;
use rig_oracle::measure;
use rig_testcases::{Action, MacsecMode, PfcOdd, Script};
use rig_units::{Dur, Time};

/// So many instants of one thing are told; there may be thousands.
const INSTANTS: usize = 4;

/// Settings as a profile would have them.
pub fn settings(settings: &[Setting]) -> String {
    match settings {
        [] => "as the device declares".to_owned(),
        settings => settings.iter().map(measure::shown).collect::<Vec<_>>().join(", "),
    }
}

/// A length of time in one unit for each order of magnitude, cut to the nanosecond.
pub fn time(dur: Dur) -> String {
    if dur == Dur::ZERO { "0ms".to_owned() } else { Unit::Ps.show(dur.0) }
}

/// By which address a PFC frame is odd.
const fn odd(odd: PfcOdd) -> &'static str {
    match odd {
        PfcOdd::No => "",
        PfcOdd::NoSource => ", its source zero",
        PfcOdd::ToAll => ", to ff:ff:ff:ff:ff:ff",
    }
}

/// What a step does, and to what.
pub fn step_text(script: &Script, action: &Action) -> (&'static str, String) {
    let port = |index: u16| script.ports[usize::from(index)].as_str();
    let stream = |index: &u16| script.streams[usize::from(*index)].name.clone();
    let storm = |index: &u16| script.storms[usize::from(*index)].name.clone();
    let flow = |index: &u16| script.flows[usize::from(*index)].name.clone();
    match action {
        Action::StartStream(index) => ("start", stream(index)),
        Action::StopStream(index) => ("stop", stream(index)),
        Action::StartFlow(index) => ("start", flow(index)),
        Action::StopFlow(index) => ("stop", flow(index)),
        Action::StartStorm(index) => ("start", storm(index)),
        Action::StopStorm(index) => ("stop", storm(index)),
        Action::Pfc(pfc) => {
            let rhythm =
                if pfc.count > 1 { format!(", one every {}", pfc.every) } else { String::new() };
            let what = format!(
                "{} PFC of {} for class {} from {}{rhythm}{}{}",
                pfc.count,
                pfc.quanta,
                classes(pfc.enable),
                port(pfc.from),
                macsec_mode(pfc.macsec),
                odd(pfc.odd)
            );
            ("send", what)
        }
        Action::LinkDown(index) => ("take down", port(*index).to_owned()),
        Action::LinkUp(index) => ("bring up", port(*index).to_owned()),
        Action::Configure(setting) => ("set", settings(std::slice::from_ref(setting))),
        Action::Device(verb) => {
            let row = verb.row();
            (row.key, row.told.to_owned())
        }
    }
}

/// How frames are protected, where the case says.
pub fn macsec_mode(macsec_mode: MacsecMode) -> String {
    if macsec_mode == MacsecMode::Usual { String::new() } else { format!(", {macsec_mode}") }
}

/// The classes of a class-enable vector.
pub fn classes(enabled: u8) -> String {
    let on = (0..8_u8).filter(|class| enabled >> class & 1 == 1);
    on.map(|class| class.to_string()).collect::<Vec<_>>().join(" and ")
}

/// What a page's figure marks of what a script asks for: what befalls the device and no sender, which have lanes of their own.
pub(super) fn marks(script: &Script) -> Vec<(Time, String)> {
    let befalls = |action: &Action| match action {
        Action::LinkDown(_) | Action::LinkUp(_) | Action::Configure(_) | Action::Device(_) => true,
        Action::StartStream(_)
        | Action::StopStream(_)
        | Action::StartFlow(_)
        | Action::StopFlow(_)
        | Action::StartStorm(_)
        | Action::StopStorm(_)
        | Action::Pfc(_) => false,
    };
    let steps = script.steps.iter().filter(|step| befalls(&step.action));
    steps.map(|step| (Time::ZERO + step.at, told(script, &step.action))).collect()
}

/// What is done at single instants, a line for each thing: all but starting and stopping what is told of elsewhere.
pub(super) fn instants(script: &Script) -> Vec<String> {
    let mut all: Vec<(String, Vec<Dur>)> = Vec::new();
    for step in &script.steps {
        if matches!(step_text(script, &step.action).0, "start" | "stop") {
            continue;
        }
        let text = told(script, &step.action);
        match all.iter_mut().find(|(other, _)| *other == text) {
            Some((_, at)) => at.push(step.at),
            None => all.push((text, vec![step.at])),
        }
    }
    let line = |(text, at): (String, Vec<Dur>)| {
        let told: Vec<String> = at.iter().take(INSTANTS).map(|at| time(*at)).collect();
        let more = match at.len().saturating_sub(INSTANTS) {
            0 => String::new(),
            more => format!(" and {more} times more"),
        };
        format!("{text}, at {}{more}", told.join(", "))
    };
    all.into_iter().map(line).collect()
}

fn told(script: &Script, action: &Action) -> String {
    let (verb, what) = step_text(script, action);
    format!("{verb} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::RebootKind;
    use rig_testcases::{DeviceVerb, Step};

    #[test]
    fn what_befalls_a_device_is_marked_and_told_with_its_first_instants() {
        let step = |at, action| Step { at: Dur::ms(at), action };
        let down = (1..7).map(|at| step(at, Action::LinkDown(1)));
        let mut steps: Vec<Step> = down.collect();
        steps.push(step(9, Action::Device(DeviceVerb::Reboot(RebootKind::Warm))));
        let script = Script { steps, ..Script::idle(2) };
        let told = instants(&script);
        let want =
            ["take down p2, at 1ms, 2ms, 3ms, 4ms and 2 times more", "reboot it, warm, at 9ms"];
        assert_eq!(told, want);
        let marks = marks(&script);
        assert_eq!(marks.len(), 7);
        let (at, text) = &marks[6];
        assert_eq!((at, text.as_str()), (&(Time::ZERO + Dur::ms(9)), "reboot it, warm"));
    }
}
