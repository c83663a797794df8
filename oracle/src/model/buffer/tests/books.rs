//! Whatever came in and left, the books balance.

use super::*;
use proptest::prelude::*;

const PORTS: usize = 3;

fn any_config() -> impl Strategy<Value = Config> {
    let limit =
        prop_oneof![(-4..4_i8).prop_map(Limit::Dynamic), (0..60_000_u64).prop_map(Limit::Static)];
    let sizes = (20_000..120_000_u64, 0..120_000_u64, 0..3_000_u32, 0..20_000_u32);
    let cells = (prop_oneof![Just(0_u32), Just(1), Just(208)], 0..40_u32);
    let port = prop::option::of(-2..3_i8);
    let headroom_pool = prop::option::of(0..30_000_u64);
    let of = (any::<bool>(), any::<bool>());
    (limit, sizes, cells, port, headroom_pool, of).prop_map(
        |(group, (pool, lossy_pool, reserved, headroom), (cell, descriptor), port, shp, of)| {
            let (shared, voqs) = of;
            let crossing = if shared { Crossing::Shared } else { Crossing::Headroom };
            Config {
                pool,
                lossy_pool,
                cell,
                descriptor,
                lossless: 0b1_1000,
                reserved: if voqs { 0 } else { reserved },
                group,
                port: if voqs { None } else { port },
                voqs,
                headroom,
                headroom_pool: shp,
                crossing,
                ..CONFIG
            }
        },
    )
}

/// What a frame takes, by another way than the buffer's own.
fn cells(config: &Config, place: &Place) -> u64 {
    let bytes = u64::from(place.size) + u64::from(config.descriptor);
    bytes.next_multiple_of(u64::from(config.cell.max(1)))
}

/// Holds every counter of `buffer` against the frames inside it.
fn balance(config: &Config, buffer: &Buffer, inside: &[Place]) -> Result<(), TestCaseError> {
    let sum = |of: &dyn Fn(&Place) -> bool| -> u64 {
        inside.iter().filter(|place| of(place)).map(|place| cells(config, place)).sum()
    };
    let lossless = |place: &Place| config.lossless & (1 << place.class) != 0;
    for (port, class) in (0..PORTS).flat_map(|port| (0..5_u8).map(move |class| (port, class))) {
        prop_assert_eq!(
            buffer.queued(port, class),
            sum(&|place| (place.to, place.class) == (port, class))
        );
    }
    let (mut shares, mut headrooms) = (0, 0);
    for (port, class) in (0..PORTS).flat_map(|port| [(port, 3), (port, 4)]) {
        let (headroom, rest) = buffer.held(port, class);
        prop_assert_eq!(headroom + rest, sum(&|place| (place.from, place.class) == (port, class)));
        prop_assert!(headroom <= u64::from(config.headroom));
        shares += rest.saturating_sub(config.reserved.into());
        headrooms += headroom;
    }
    let pools = buffer.pools();
    prop_assert_eq!(pools.ingress.used(), shares + sum(&|place| !lossless(place)));
    prop_assert_eq!(pools.egress_lossless.used(), sum(&lossless));
    prop_assert_eq!(pools.egress_lossy.used(), sum(&|place| !lossless(place)));
    prop_assert_eq!(pools.headroom.used(), headrooms);
    prop_assert!(headrooms <= config.headroom_pool.unwrap_or(u64::MAX));
    prop_assert!(pools.ingress.used() <= config.pool);
    prop_assert!(pools.egress_lossy.used() <= config.lossy_pool);
    Ok(())
}

fn a_move() -> impl Strategy<Value = (Place, bool)> {
    let class = prop_oneof![Just(0_u8), Just(3), Just(3), Just(4)];
    (0..PORTS, 0..PORTS, class, 64..9_000_u16, any::<bool>())
        .prop_map(|(from, to, class, size, enter)| (Place { from, to, class, size }, enter))
}

proptest! {
    #[test]
    fn whatever_came_in_and_left_the_books_balance(
        config in any_config(), moves in prop::collection::vec(a_move(), 1..150)
    ) {
        let mut buffer = Buffer::new(&config, PORTS);
        let mut inside: Vec<Place> = Vec::new();
        for (place, enter) in moves {
            if enter {
                let before = buffer.held(place.from, place.class);
                match buffer.admit(place) {
                    Admission::Within => {
                        let (headroom, _) = buffer.held(place.from, place.class);
                        prop_assert!(headroom == 0 || config.voqs);
                        inside.push(place);
                    }
                    Admission::Over => inside.push(place),
                    Admission::GroupFull | Admission::QueueFull => {
                        prop_assert_eq!(buffer.held(place.from, place.class), before);
                    }
                }
            } else if !inside.is_empty() {
                let index = usize::from(place.size) % inside.len();
                buffer.release(inside.swap_remove(index));
            }
            balance(&config, &buffer, &inside)?;
        }
        while let Some(place) = inside.pop() {
            buffer.release(place);
        }
        balance(&config, &buffer, &[])?;
        buffer.clear_watermarks();
        prop_assert_eq!(buffer.pools(), &Pools::default());
        for (port, class) in (0..PORTS).flat_map(|port| [(port, 3), (port, 4)]) {
            prop_assert!(buffer.resumes(port, class));
            prop_assert_eq!((buffer.share_peak(port, class), buffer.headroom_peak(port, class)), (0, 0));
        }
    }

    /// F5 for a lone group of equal frames, with T found by stepping through the definition.
    #[test]
    fn a_lone_group_crosses_and_loses_where_the_formula_says(
        config in any_config(), size in 64..9_000_u16
    ) {
        let place = Place { from: 0, to: 1, class: 3, size };
        let each = cells(&config, &place);
        let scale = |bytes: u64, k: i8| if k < 0 { bytes >> -k } else { bytes << k };
        let fits = |frames: u64| {
            let share = (frames * each).saturating_sub(config.reserved.into());
            let Some(left) = config.pool.checked_sub(share) else { return false };
            let left = config.port.map_or(left, |p| scale(left, p).saturating_sub(share));
            match config.group {
                Limit::Dynamic(k) => share <= scale(left, k),
                Limit::Static(bytes) => share <= bytes,
            }
        };
        let within = (1..).take_while(|&frames| fits(frames)).count();
        let room = u64::from(config.headroom).min(config.headroom_pool.unwrap_or(u64::MAX)) / each;
        let share = ((within as u64 + 1) * each).saturating_sub(config.reserved.into());
        let once_more = config.crossing == Crossing::Shared && share <= config.pool;
        let mut buffer = Buffer::new(&config, PORTS);
        let answers: Vec<Admission> = (0..).map(|_| buffer.admit(place)).take_while(|&got| got != Admission::GroupFull).collect();
        let over = answers.iter().filter(|&&got| got == Admission::Over).count() as u64;
        prop_assert_eq!(answers.len() as u64 - over, within as u64);
        prop_assert_eq!(over, room + u64::from(once_more));
    }
}
