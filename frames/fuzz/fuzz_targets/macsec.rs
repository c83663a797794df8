//! Any bytes as a frame: protected and opened it is the same; opened as it is, nothing panics, and a tag that was read is
//! written again unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rig_frames::macsec::{Sa, Sci, Seal, SecTag, Suite};

fuzz_target!(|input: (u8, u64, &[u8])| {
    let (choice, pn, bytes) = input;
    let suite = Suite::ALL[usize::from(choice % 4)];
    let pn = if suite.is_xpn() { pn } else { pn & 0xffff_ffff }.max(1);
    let key = &[choice; 32][..suite.key_len()];
    let sa = Sa::new(suite, key, Sci::default(), 1, [2; 12]).expect("a key of its length");
    if let Some(Ok((tag, _, _))) = bytes.get(12..).map(SecTag::parse) {
        let mut again = bytes[..12].to_vec();
        tag.emit(&mut again);
        assert_eq!(again, bytes[..again.len()]);
        let _ = sa.open(bytes, pn);
    }
    if bytes.len() >= 14 {
        let [encrypt, send_sci, end_station] = [4, 8, 16].map(|bit| choice & bit != 0);
        let seal = Seal { an: choice >> 6, pn, encrypt, send_sci, end_station };
        let opened = sa.open(&sa.protect(&seal, bytes), pn).expect("its own frame");
        assert_eq!((opened.icv_ok, opened.pn, &opened.frame[..]), (true, pn, bytes));
    }
});
