//! The form of a CNP: its headers, its DSCP and ECN field, and whom it goes to.

use super::super::super::judge_context::{JudgeContext, TrialReading};
use super::super::super::judged::Judged;
use super::super::{Passage, spoilt};
use crate::Prediction;
use crate::trials::trial::Trial;
use crate::verdict::Looked;
use rig_capture::{Span, Unit};
use rig_frames::ip::Ecn;
use rig_lab::EcnField;
use rig_testcases::{FlowSpec, RoceKind};

/// Judges the form of every CNP.
pub(super) fn format(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("cnp.format", port, judged, |trial| {
        let index = trial.port(port)?;
        let seen = Passage::of(done, trial, index);
        if let Some(spoilt) = spoilt::cnps(&seen) {
            return spoilt.read(trial);
        }
        let np = &seen.nic.np;
        let field = |ecn: Ecn| match ecn {
            Ecn::NotEct => EcnField::NotEct,
            Ecn::Ect1 => EcnField::Ect1,
            Ecn::Ect0 => EcnField::Ect0,
            Ecn::Ce => EcnField::Ce,
        };
        let mut cnps = 0_u64;
        let mut wrong = Vec::new();
        for left in &seen.left {
            let RoceKind::Cnp { fault } = left.roce.kind else { continue };
            cnps += 1;
            let ecn = field(left.roce.ecn);
            let what = fault
                .map(|fault| fault.text().to_owned())
                .or_else(|| (left.roce.dscp != np.dscp).then(|| format!("DSCP {}", left.roce.dscp)))
                .or_else(|| (ecn != np.ecn).then(|| ecn.words().to_owned()))
                .or_else(|| astray(trial, index, (left.roce.connection, left.roce.address)));
            wrong.extend(what.map(|what| (left.record, what)));
        }
        if cnps == 0 {
            return Err(trial.doubt("no mark was answered").into());
        }
        let want = Prediction {
            unit: Unit::Frames,
            span: Span::exactly(0),
            formula: "",
            text: format!(
                "each of {cnps} CNPs well formed, with DSCP {} and {}",
                np.dscp,
                np.ecn.words()
            ),
            source: "RoCEv2, IBTA volume 1 A17.9.3; the declared DSCP and ECN field",
        };
        let got = wrong.first().map(|(_, what)| format!("{} with {what}", wrong.len()));
        let span = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
        let records = wrong.iter().map(|(record, _)| *record).collect();
        let looked = Looked { count: cnps, of: "CNPs" };
        Ok(TrialReading { span, want, got, records, looked })
    });
}

/// What is wrong with a CNP that goes to another of the rig's addresses than its connection is with.
fn astray(trial: &Trial, port: u16, (connection, address): (u16, u8)) -> Option<String> {
    let script = &trial.script;
    let stream = script.streams.get(usize::from(connection)).map(|stream| stream.address);
    // Who answers a flow has its sender at the other end, at the GID of that.
    let of_flow = |flow: &FlowSpec| if flow.nic == port { flow.address } else { flow.gid };
    let own = stream.or_else(|| Some(of_flow(script.flow_of(connection)?.1)));
    let to = |number: u8| u16::from(number) + 1;
    let own = own.filter(|own| *own != address)?;
    Some(format!("the rig's address {}, where its sender has {}", to(address), to(own)))
}
