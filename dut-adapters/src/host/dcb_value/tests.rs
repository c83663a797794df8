use super::*;
use crate::dcb::{Buffer, Ets, Pfc};

/// A NIC as it is when nothing has been set: as mlx5 says it, of which every class has 100 %.
fn fresh() -> Dcb {
    let ets = Ets {
        willing: 1,
        most: 8,
        credit_shaper: 0,
        sent: [100; 8],
        received: [5; 8],
        selection: [Selection::Vendor; 8],
        classes: [1, 0, 2, 3, 4, 5, 6, 7],
        recommended: [[7; 8]; 3],
    };
    let pfc = Pfc {
        most: 8,
        on: 0b1000,
        macsec_bypass: 0,
        delay: 700,
        requests: [3; 8],
        indications: [4; 8],
    };
    Dcb {
        ets: Some(ets),
        pfc: Some(pfc),
        max_rate: Some([0; 8]),
        buffer: Some(Buffer { of: [0; 8], bytes: [9_000, 0, 0, 0, 0, 0, 0, 0], total: 262_144 }),
        app: vec![App { selector: 3, protocol: 4_791, priority: 3 }, App::of_dscp(26, 3)],
        owner: None,
    }
}

#[test]
fn a_value_is_taken_as_it_reads_back() {
    let taken = [
        (DcbKnob::Pfc, "4,3,4", "3,4"),
        (DcbKnob::Pfc, "none", "none"),
        (
            DcbKnob::Ets,
            "10001120:30,70,strict",
            "10001120:30,70,strict,strict,strict,strict,strict,strict",
        ),
        (
            DcbKnob::Ets,
            "01234567:vendor,cbs,tsa9,strict,0,100,vendor,vendor",
            "01234567:vendor,cbs,tsa9,strict,0,100,vendor,vendor",
        ),
        (
            DcbKnob::Ets,
            "00000000:strict",
            "00000000:strict,strict,strict,strict,strict,strict,strict,strict",
        ),
        (DcbKnob::MaxRate, "7:1,2:2000000", "2:2000000,7:1"),
        (DcbKnob::MaxRate, "none", "none"),
        (DcbKnob::Buffer, "00011000:20016,131072", "00011000:20016,131072,0,0,0,0,0,0"),
        (DcbKnob::DscpPrio, "48:6,26:3", "26:3,48:6"),
        (DcbKnob::DscpPrio, "none", "none"),
    ];
    for (knob, value, canonical) in taken {
        assert_eq!(knob.taken(value).as_deref(), Ok(canonical), "{value}");
        assert_eq!(knob.taken(canonical).as_deref(), Ok(canonical), "{value}");
        // A driver that does as it is told says so.
        let mut now = fresh();
        match knob.part(&now, canonical).expect("it fits") {
            Some(Part::Pfc(pfc)) => now.pfc = Some(pfc),
            Some(Part::Ets(ets)) => now.ets = Some(ets),
            Some(Part::MaxRate(rates)) => now.max_rate = Some(rates),
            Some(Part::Buffer(buffer)) => now.buffer = Some(buffer),
            Some(Part::App(more)) => now.app.extend(more),
            None => {}
        }
        let surplus = knob.surplus(&now, canonical).expect("it fits");
        now.app.retain(|entry| !surplus.contains(entry));
        assert_eq!(knob.text(&now).as_deref(), Some(canonical));
        // Nothing else was touched.
        let own = |dcb: &Dcb| dcb.ets.map(|ets| (ets.willing, ets.received, ets.recommended));
        assert_eq!(own(&now), own(&fresh()));
        assert_eq!(now.pfc.map(|pfc| pfc.delay), Some(700));
        assert_eq!(now.buffer.map(|buffer| buffer.total), Some(262_144));
        assert!(now.app.iter().any(|entry| entry.selector == 3), "{now:?}");
    }
}

#[test]
fn what_makes_no_sense_is_told_with_what_would() {
    let wrong = [
        (DcbKnob::Pfc, "8", "0 to 7"),
        (DcbKnob::Pfc, "", "0 to 7"),
        (DcbKnob::Ets, "10001120", "the traffic class of each"),
        (DcbKnob::Ets, "1000112:30,70,strict", "the traffic class of each"),
        (DcbKnob::Ets, "10001130:30,70,strict", "how class 3 is selected, in which priority 6 is"),
        (DcbKnob::Ets, "10001180:30,70,strict", "the traffic class of each"),
        (DcbKnob::Ets, "00000000:30,60", "and not 90 %"),
        (DcbKnob::Ets, "00000000:101", "the traffic class of each"),
        (DcbKnob::Ets, "00000000:100,0,0,0,0,0,0,0,0", "the traffic class of each"),
        (DcbKnob::MaxRate, "8:1", "0 to 7"),
        (DcbKnob::MaxRate, "1:0", "0 to 7"),
        (DcbKnob::MaxRate, "1:5,1:6", "0 to 7"),
        (DcbKnob::MaxRate, "2:2Gbps", "kb/s"),
        (DcbKnob::Buffer, "00011000", "bytes"),
        (DcbKnob::Buffer, "00021000:1,2", "bytes"),
        (DcbKnob::DscpPrio, "64:1", "26:3"),
        (DcbKnob::DscpPrio, "26:8", "26:3"),
    ];
    for (knob, value, want) in wrong {
        let why = knob.taken(value).expect_err(value);
        assert!(why.contains(want), "{value}: {why}");
    }
    let bare = Dcb { app: fresh().app, ..Dcb::default() };
    let lacks = Err("its driver has no ets of DCB".to_owned());
    assert_eq!(DcbKnob::Ets.part(&bare, "00000000:100"), lacks);
    assert_eq!(DcbKnob::Ets.text(&bare), None);
}
