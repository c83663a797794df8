//! The average against DPDK's, and its idle time against what is worked by hand.

use super::*;

const RECORDED: &str = include_str!("../../../../tests/data/rte-red/average.txt");

#[test]
fn the_average_is_rte_reds_to_its_last_step() {
    let (mut weight, mut average, mut takes, mut idles) = (0, Average::default(), 0, 0);
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        match words[0] {
            "weight" => (weight, average) = (words[1].parse().unwrap(), Average::default()),
            "take" => {
                average.take(weight, number(1));
                assert_eq!(average.scaled(), number(2), "weight {weight}: {line}");
                takes += 1;
            }
            "idle" => {
                let before = average.scaled() as f64;
                average.idle(weight, number(1));
                let (mine, theirs) = (average.scaled() as f64, number(2) as f64);
                // It takes the logarithm of 1 - 2^-n from a table in steps of 2^-10, once for every frame, cuts the power down to
                // a sixteenth of an octave, and multiplies whole frames by whole 1024ths.
                let octaves = number(1) as f64 / 1_024.0;
                let steps = before / 1_024.0 + 1_024.0;
                assert!(
                    mine >= theirs * (-octaves - 1.0 / 16.0).exp2() - steps,
                    "{weight}: {line}"
                );
                assert!(
                    mine <= (theirs + steps) * octaves.exp2(),
                    "weight {weight}: {line}, {mine}"
                );
                // The next frames go on from where it is.
                average.scaled = number(2);
                idles += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!((takes, idles), (384, 16));
}

#[test]
fn idle_time_takes_a_part_of_the_average_for_each_frame_that_might_have_gone_by() {
    let after = |n: u8, frames: u64| {
        let mut average = Average { scaled: 1_000_000 << (10 + n) };
        average.idle(n, frames);
        average.depth(n)
    };
    // 1 000 000 / 2^3; 1 000 000 x 0.75^4 = 316 406.25; (1 - 2^-9)^512 is 0.367 52, e^-1 nearly.
    assert_eq!((after(1, 0), after(1, 3), after(2, 4)), (1_000_000, 125_000, 316_406));
    assert_eq!((after(9, 512) + 500) / 1_000, 368);
    assert_eq!((after(15, u64::MAX), after(1, 64)), (0, 0));
}

#[test]
fn a_depth_that_stays_is_what_the_average_comes_to() {
    for n in 1..=15 {
        let mut average = Average::default();
        (0..40_u64 << n).for_each(|_| average.take(n, 1_000_000));
        assert_eq!(average.depth(n), 1_000_000, "weight {n}");
    }
}
