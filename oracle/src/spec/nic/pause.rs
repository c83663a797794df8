//! When a NIC that obeys PFC stops, and when it goes on (IEEE 802.1Q clause 36; IEEE 802.3 Annex 31B, 31B.3.7).

use rig_units::{Dur, Within};

/// From the last bit of an XOFF to the start of the last packet of its priority, of which there is always another one to send; a packet
/// takes `slot`, its preamble and gap counted.
pub fn last_start(response: Within, slot: Dur) -> (Dur, Dur) {
    (response.least().saturating_sub(slot), response.most())
}

/// From the last bit of the last word to the start of the first packet of its priority afterwards. What it asks for lasts `pause`, at
/// the least and at the most: no time for XON. It goes on within the resumption; until something else lets it go, at most `turn`. No latest instant
/// where nothing is declared of the resumption.
pub fn first_start(pause: (Dur, Dur), resumption: Option<Within>, turn: Dur) -> (Dur, Option<Dur>) {
    let (least, most) = pause;
    let soonest = least + resumption.map_or(Dur::ZERO, Within::least);
    (soonest, resumption.map(|resumption| most + resumption.most() + turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nic_stops_within_its_response_and_goes_on_when_the_pause_is_over() {
        let (us, response) = (Dur::us, Within::between(Dur::us(1), Dur::us(2)));
        assert_eq!(last_start(response, Dur::ns(88)), (Dur::ns(912), us(2)));
        assert_eq!(last_start(Within::ZERO, Dur::ns(88)), (Dur::ZERO, Dur::ZERO));
        // 2000 quanta at 100 Gb/s are 10.24 us.
        let pause = (Dur::ns(10_240), Dur::ns(10_240));
        let goes_on = Some(response);
        let of_quanta = (Dur::ns(11_240), Some(Dur::ns(12_240)));
        assert_eq!(first_start(pause, goes_on, Dur::ZERO), of_quanta);
        let xon = (Dur::ZERO, Dur::ZERO);
        assert_eq!(first_start(xon, goes_on, us(3)), (us(1), Some(us(5))));
        assert_eq!(first_start(xon, None, us(3)), (Dur::ZERO, None));
        assert_eq!(first_start(pause, None, us(3)), (pause.0, None));
    }
}
