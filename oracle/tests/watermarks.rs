//! Copies of watermarks: what the emulated device shows lies within the closed form at every phase, and all of the form is
//! met at some.

use rig_capture::Span;
use rig_lab::{Profile, Setting, Watermark, WatermarkCopy};
use rig_oracle::model::dut::{Dut, Rig};
use rig_oracle::model::{NoTap, PacketKind, Storm, Stream, host};
use rig_oracle::spec::watermark::{Step, periodic, until_cleared};
use rig_testcases::{DeviceVerb, MacsecMode};
use rig_units::{Dur, Pace, Quanta, Time};

const PORT: &str = "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES";
const POLL: Dur = Dur::ms(100);
const TELEMETRY: Dur = Dur::ms(250);
/// Frames of 1024 B: five cells of 208 B each, less what the group has reserved.
const PEAK: u64 = 10 * 1_040 - 1_248;

const fn ms(milliseconds: u64) -> Time {
    Time(milliseconds * 1_000_000_000)
}

/// A device whose port 1 is held for the first 50 ms, with ten frames for it; the user copy is cleared at `cleared`.
fn shown(profile: &Profile, seed: u64, cleared: u64, at: u64) -> [u64; 3] {
    let times = [("watermark.poll", POLL), ("watermark.telemetry", TELEMETRY)];
    let declared = times.iter().fold(profile.declared.clone(), |declared, (path, time)| {
        let setting = Setting { path: (*path).to_owned(), value: time.to_string().into() };
        declared.with(&setting).expect("it fits")
    });
    let rig = Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
    let mut dut = Dut::new(profile, &declared, &rig, seed).expect("a device");
    let (enable, every) = (1 << 3, Dur::us(150));
    let storm = Storm {
        id: 3,
        enable,
        zero: 0,
        quanta: Quanta::MAX,
        every,
        count: None,
        macsec_mode: MacsecMode::Usual,
    };
    dut.rig().start_storm(1, &storm);
    dut.run_until(ms(1), &mut NoTap);
    dut.rig().start_stream(
        0,
        &Stream {
            address: 0,
            first: 0,
            id: 1,
            kind: PacketKind::Data,
            names: 1,
            class: 3,
            dscp: 3,
            size: 1_024,
            pace: Pace::every(Dur::us(1)),
            dst: 1,
            count: Some(10),
            ect: false,
            ce: false,
            record: true,
            pcp: None,
            macsec_mode: MacsecMode::Usual,
        },
    );
    let run = |dut: &mut Dut, until: u64| {
        if until > 50 && dut.now() < ms(50) {
            dut.run_until(ms(50), &mut NoTap);
            dut.rig().stop_storm(1, 3);
        }
        dut.run_until(ms(until), &mut NoTap);
    };
    if cleared < at {
        run(&mut dut, cleared);
        assert!(dut.perform(DeviceVerb::ClearWatermarks(WatermarkCopy::User)));
    }
    run(&mut dut, at);
    let of = |table: &str| dut.counter(&format!("{table}_WATERMARKS {PORT}")).unwrap_or(0);
    [of("USER"), of("PERSISTENT"), of("PERIODIC")]
}

#[test]
fn the_device_shows_what_the_form_says_and_all_of_it() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let profile = lab.duts.iter().find(|dut| dut.name == "broadcom").expect("a broadcom device");
    let config = Watermark { poll: Some(POLL), telemetry: Some(TELEMETRY) };
    // What waits leaves within the pause that the last frame of the storm asked for.
    let steps: [Step; 2] = [(ms(1), PEAK), (ms(50), 0)];
    for (cleared, at) in [(30, 90), (30, 140), (90, 170), (120, 240), (180, 400), (500, 600)] {
        let user = Some(ms(cleared)).filter(|_| cleared < at);
        let want = [
            until_cleared(POLL, &steps, user, ms(at)),
            until_cleared(POLL, &steps, None, ms(at)),
            periodic(&config, &steps, ms(at)),
        ];
        let mut met = want.map(|_| Span { lo: u64::MAX, hi: 0 });
        for seed in 0..60 {
            for ((got, want), met) in
                shown(profile, seed, cleared, at).iter().zip(want).zip(&mut met)
            {
                let within = want.lo <= *got && *got <= want.hi;
                assert!(within, "seed {seed}, cleared at {cleared}, at {at}: {got}, want {want:?}");
                *met = Span { lo: met.lo.min(*got), hi: met.hi.max(*got) };
            }
        }
        assert_eq!(met, want, "cleared at {cleared}, at {at}");
    }
}
