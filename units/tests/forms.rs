//! Every form in which a quantity is written in YAML: read, printed, read again; and what is refused, in which words.

use core::fmt::{Debug, Display};
use core::str::FromStr;
use proptest::prelude::*;
use rig_units::{
    BadQuantity, Bytes, Dur, L1Rate, L2Rate, Length, Percent, PortSpeed, Ppm, Quanta, Rate, limits,
};

/// Reads a text, or says why not.
fn read<T: FromStr<Err = BadQuantity>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|bad: BadQuantity| bad.to_string())
}

fn same<T: FromStr<Err = BadQuantity> + Display + PartialEq + Debug + Copy>(quantity: T) {
    assert_eq!(read(&quantity.to_string()), Ok(quantity));
}

#[test]
fn the_slowest_port_has_a_kilobit_a_second() {
    assert!(PortSpeed::from_bps(1_000).is_some());
    assert_eq!(PortSpeed::from_bps(800), None);
}

#[test]
fn every_documented_form_is_read() {
    assert_eq!(read("200ms"), Ok(Dur::ms(200)));
    assert_eq!(read("100Gbps"), Ok(PortSpeed::G100));
    assert_eq!(read("10Gbps-L1"), Ok(Rate::L1(L1Rate { bps: 10_000_000_000 })));
    assert_eq!(read("10Gbps-L2"), Ok(Rate::L2(L2Rate { bps: 10_000_000_000 })));
    assert_eq!(read("45%"), Ok(Rate::Share(Percent { ppm: 450_000 })));
    assert_eq!(read("500us"), Ok(Dur::us(500)));
    assert_eq!(read("1024B"), Ok(Bytes(1_024)));
    assert_eq!(read("400KB"), Ok(Bytes(400_000)));
    assert_eq!(read("400KiB"), Ok(Bytes(409_600)));
    assert_eq!(read("65535q"), Ok(Quanta::MAX));
    assert_eq!(read("5%"), Ok(Ppm(50_000)));
    assert_eq!(read("200ppm"), Ok(Ppm(200)));
    assert_eq!(read("3m"), Ok(Length(300)));
}

#[test]
fn every_unit_of_time_is_a_thousand_of_the_one_below() {
    let all = ["1s", "1000ms", "1000000us", "1000000000ns", "1000000000000ps"];
    for text in all {
        assert_eq!(read(text), Ok(Dur::s(1)), "{text}");
    }
}

#[test]
fn fractions_are_taken_as_long_as_nothing_has_to_be_rounded() {
    assert_eq!(read("12.5us"), Ok(Dur::ns(12_500)));
    assert_eq!(read("0.001ns"), Ok(Dur(1)));
    assert!(read::<Dur>("0.0001ns").is_err());
    assert_eq!(read("0.5KiB"), Ok(Bytes(512)));
    assert!(read::<Bytes>("0.3KiB").is_err());
    assert_eq!(read("0.0001%"), Ok(Ppm(1)));
    assert!(read::<Ppm>("0.00001%").is_err());
}

#[test]
fn what_is_no_quantity_is_refused_with_what_is_wanted() {
    let refused = [
        "",
        "ms",
        "200",
        "200 ms",
        "200msec",
        "+1s",
        "-1s",
        "1e3ms",
        "1_000ms",
        ".5s",
        "1.s",
        "1.2.3s",
        "٣ms",
        "99999999999999999999s",
        "99999999999999999999.999999999999999s",
    ];
    for text in refused {
        let want = format!(
            "`{text}` is not a duration: want a number and ps, ns, us, ms or s, up to 86400s, such as 200ms"
        );
        assert_eq!(read::<Dur>(text), Err(want));
    }
}

#[test]
fn a_rate_must_say_what_it_counts_and_fit() {
    for text in ["10Gbps", "10G-L1", "10Gbps-L3", "0Gbps-L1", "0%", "100.0001%", "45"] {
        let said = read::<Rate>(text).unwrap_err();
        assert!(said.contains("10Gbps-L1 (preamble and gap counted)"), "{said}");
    }
}

#[test]
fn what_has_a_limit_is_refused_beyond_it() {
    assert!(read::<Quanta>("65536q").is_err());
    assert!(read::<Ppm>("1000001ppm").is_err());
    assert!(read::<Ppm>("100.0001%").is_err());
    assert!(read::<PortSpeed>("99Gbps").is_err());
    assert!(read::<PortSpeed>("0Gbps").is_err());
    assert!(read::<Length>("1001km").is_err());
}

#[test]
fn a_bare_number_in_a_file_is_answered_with_the_form_that_is_wanted() {
    let said = serde_json::from_str::<Dur>("200").unwrap_err().to_string();
    assert_eq!(
        said,
        "invalid type: integer `200`, expected a duration such as 200ms at line 1 column 3"
    );
    assert_eq!(serde_json::from_str::<Dur>("\"200ms\"").unwrap(), Dur::ms(200));
    assert_eq!(serde_json::to_string(&Dur::ms(200)).unwrap(), "\"200ms\"");
}

#[test]
fn quantities_print_in_the_largest_unit_that_stays_readable() {
    let said = [
        Dur::ZERO.to_string(),
        Dur(1).to_string(),
        Dur::us(1_500).to_string(),
        Dur::ms(60_000).to_string(),
        Bytes(1_024).to_string(),
        Bytes(400_000).to_string(),
        Bytes(409_600).to_string(),
        PortSpeed::G400.to_string(),
        Quanta(7).to_string(),
        Ppm(50_000).to_string(),
        Ppm(3).to_string(),
        Length(250).to_string(),
    ];
    let want = [
        "0ms", "1ps", "1.5ms", "60s", "1024B", "400KB", "400KiB", "400Gbps", "7q", "5%", "3ppm",
        "2.5m",
    ];
    assert_eq!(said, want);
}

proptest! {
    #[test]
    fn a_duration_survives_printing(ps in 0..=limits::TIME.0) { same(Dur(ps)); }

    #[test]
    fn a_duration_beyond_the_longest_is_printed_and_never_read(ps in limits::TIME.0 + 1..) {
        prop_assert!(read::<Dur>(&Dur(ps).to_string()).is_err());
    }

    #[test]
    fn a_round_duration_survives_printing(n in 0_u64..10_000, unit in 0_u32..5) {
        same(Dur(n * 1_000_u64.pow(unit)));
    }

    #[test]
    fn a_size_survives_printing(bytes in any::<u64>(), small in 0_u64..100_000) {
        same(Bytes(bytes));
        same(Bytes(small));
        same(Bytes(small << 10));
    }

    #[test]
    fn quanta_and_probabilities_survive_printing(quanta in any::<u16>(), ppm in 0_u32..=1_000_000) {
        same(Quanta(quanta));
        same(Ppm(ppm));
    }

    #[test]
    fn a_length_survives_printing(cm in 0_u64..=Length::MAX.0) { same(Length(cm)); }

    #[test]
    fn a_rate_survives_printing(bps in 1_u64..=10_000_000_000_000, ppm in 1_u32..=1_000_000) {
        same(Rate::L1(L1Rate { bps }));
        same(Rate::L2(L2Rate { bps }));
        same(Rate::Share(Percent { ppm }));
    }

    #[test]
    fn a_port_speed_exists_when_a_byte_lasts_whole_picoseconds(bps in 1_u64..=8_000_000_000_000) {
        let whole = 8_000_000_000_000_u64.is_multiple_of(bps);
        prop_assert_eq!(PortSpeed::from_bps(bps).is_some(), whole && bps >= 1_000);
    }

    #[test]
    fn a_port_speed_survives_printing(twos in 0_u32..=15, fives in 0_u32..=12) {
        // 8 * 10^12 is 2^15 * 5^12; every divisor from 1 Kb/s on is a speed.
        let bps = 2_u64.pow(twos) * 5_u64.pow(fives);
        match PortSpeed::from_bps(bps) {
            Some(speed) => same(speed),
            None => prop_assert!(bps < 1_000, "{bps}"),
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC*") {
        let _ = (read::<Dur>(&text), read::<Bytes>(&text), read::<Rate>(&text));
        let _ = (read::<PortSpeed>(&text), read::<Quanta>(&text), read::<Ppm>(&text), read::<Length>(&text));
    }

    #[test]
    fn no_number_makes_a_reader_panic(text in "[0-9]{0,20}[.]?[0-9]{0,16}(ps|s|KiB|GiB|Gbps|Tbps-L1|%|q|ppm|km)") {
        let _ = (read::<Dur>(&text), read::<Bytes>(&text), read::<Rate>(&text));
        let _ = (read::<PortSpeed>(&text), read::<Quanta>(&text), read::<Ppm>(&text), read::<Length>(&text));
    }
}

#[test]
fn a_length_of_time_is_told_in_the_unit_that_suits() {
    let shown = [
        1_157_335_518_289_u64,
        335_539_200,
        500_288_947_200,
        9_999_999_999,
        60_001_000_000_000,
        10_000,
        0,
    ]
    .map(|ps| Dur(ps).to_string());
    assert_eq!(
        shown,
        [
            "1.157335518289s",
            "335.5392us",
            "500.2889472ms",
            "9.999999999ms",
            "60.001s",
            "10ns",
            "0ms"
        ]
    );
    for text in &shown[..6] {
        assert_eq!(text.parse::<Dur>().unwrap().to_string(), *text);
    }
}

#[test]
fn more_than_the_whole_is_called_that() {
    let said = |error: String| assert!(error.contains("more than the whole"), "{error}");
    said("150%".parse::<Ppm>().unwrap_err().to_string());
    said("150%".parse::<Rate>().unwrap_err().to_string());
}
