//! The published test vectors of IEEE 802.1AE-2018 Annex C: eight packets, each under all four suites.
//!
//! A packet's user data is a type of 0x0800, bytes that count up from 0x0f, and two bytes with the packet's number. The
//! same numbers stand in the vectors that DPDK tests MACsec hardware with.

use super::{Sa, Sci, Seal, Suite};

const SSCI: u32 = 0x7a30_c118;
const SALT: [u8; 12] = [0xe6, 0x30, 0xe8, 0x1a, 0x48, 0xde, 0x86, 0xa2, 0x1c, 0x66, 0xfa, 0x6d];
/// High half of the packet numbers of the XPN suites.
const PN_HIGH: u64 = 0xb0df_459c;

/// One packet of the annex.
struct Packet {
    clause: &'static str,
    keys: [&'static str; 2],
    /// Both addresses.
    addresses: &'static str,
    /// The SecTAG, from its EtherType on.
    tag: &'static str,
    seal: Seal,
    sci: &'static str,
    /// The last of the bytes that count up, and the packet's number.
    data: (u8, u8),
    /// By suite, in the order of [`Suite::ALL`]: the ICV, after the secure data where that is not the user data.
    secured: [&'static str; 4],
}

/// One packet under one suite.
pub(super) struct Vector {
    pub(super) name: String,
    pub(super) sa: Sa,
    pub(super) seal: Seal,
    pub(super) clear: Vec<u8>,
    pub(super) protected: Vec<u8>,
}

/// All 32.
pub(super) fn vectors() -> Vec<Vector> {
    let under = |packet: &'static Packet| {
        (0..).zip(Suite::ALL).map(move |(nth, suite)| packet.under(suite, packet.secured[nth]))
    };
    PACKETS.iter().flat_map(under).collect()
}

impl Packet {
    fn under(&self, suite: Suite, secured: &str) -> Vector {
        let key = hex(self.keys[usize::from(suite.key_len() == 32)]);
        let sci = Sci::from_bytes(hex(self.sci).try_into().unwrap());
        let (last, number) = self.data;
        let data: Vec<u8> = [8, 0].into_iter().chain(0x0f..=last).chain([0, number]).collect();
        let shown: &[u8] = if self.seal.encrypt { &[] } else { &data };
        let (addresses, tag) = (hex(self.addresses), hex(self.tag));
        let high = if suite.is_xpn() { PN_HIGH << 32 } else { 0 };
        Vector {
            name: format!("{} {suite}", self.clause),
            sa: Sa::new(suite, &key, sci, SSCI, SALT).unwrap(),
            seal: Seal { pn: high | self.seal.pn, ..self.seal },
            protected: [&addresses, &tag, shown, &hex(secured)].concat(),
            clear: [addresses, data].concat(),
        }
    }
}

pub(super) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

const fn seal(an: u8, pn: u64, encrypt: bool, send_sci: bool) -> Seal {
    Seal { an, pn, encrypt, send_sci, end_station: !send_sci }
}

const KEYS_A: [&str; 2] = [
    "ad7a2bd03eac835a6f620fdcb506b345",
    "e3c08a8f06c6e3ad95a70557b23f7548 3ce33021a9c72b7025666204c69c0b72",
];
const KEYS_B: [&str; 2] = [
    "071b113b0ca743fecccf3d051f737382",
    "691d3ee909d7f54167fd1ca0b5d76908 1f2bde1aee655fdbab80bd5295ae6be7",
];
const KEYS_C: [&str; 2] = [
    "013fe00b5f11be7f866d0cbbc55a7a90",
    "83c093b58de7ffe1c0da926ac43fb360 9ac1c80fee1b624497ef942e2f79a823",
];
const KEYS_D: [&str; 2] = [
    "88ee087fd95da9fbf6725aa9d757b0cd",
    "4c973dbc7364621674f8b5b89e5c1551 1fced9216490fb1c1a2caa0ffe0407e5",
];

const PACKETS: [Packet; 8] = [
    Packet {
        clause: "C.1, 54 bytes, integrity",
        keys: KEYS_A,
        addresses: "d609b1f05663 7a0d46df998d",
        tag: "88e5 22 2a b2c28465 12153524c0895e81",
        seal: seal(2, 0xb2c2_8465, false, true),
        sci: "12153524c0895e81",
        data: (0x34, 1),
        secured: [
            "f09478a9b09007d06f46e9b6a1da25dd",
            "2f0bc5af409e06d609ea8b7d0fa5ea50",
            "17fe1981ebdd4afc5062697e8baa0c23",
            "4dbd2f6a754a6cf728cc129ba6931577",
        ],
    },
    Packet {
        clause: "C.2, 60 bytes, confidentiality",
        keys: KEYS_A,
        addresses: "d609b1f05663 7a0d46df998d",
        tag: "88e5 2e 00 b2c28465 12153524c0895e81",
        seal: seal(2, 0xb2c2_8465, true, true),
        sci: "12153524c0895e81",
        data: (0x3a, 2),
        secured: [
            "701afa1cc039c0d765128a665dab6924 3899bf7318ccdc81c9931da17fbe8edd \
             7d17cb8b4c26fc81e3284f2b7fba713d 4f8d55e7d3f06fd5a13c0c29b9d5b880",
            "e2006eb42f5277022d9b19925bc419d7 a592666c925fe2ef718eb4e308efeaa7 \
             c5273b394118860a5be2a97f56ab7836 5ca597cdbb3edb8d1a1151ea0af7b436",
            "0712d980ca50bbed35a0fa566338729f fa16d19ffcf07b3a1e7919b3776aacec \
             8a5937208b483a7691984d380792e07f c2c3c79f263fa6bff8e7581e2ce45af8",
            "3eb04a4bbf54c6eb1222a9aea00c3868 7f6c3520d976a3b694800650ce6585e6 \
             20a4191917d2a605d870c78d2752ce49 3b442ac0c816d7abd70ad65c25d46413",
        ],
    },
    Packet {
        clause: "C.3, 60 bytes, integrity",
        keys: KEYS_B,
        addresses: "e20106d7cd0d f0761e8dcd3d",
        tag: "88e5 40 00 76d457ed",
        seal: seal(0, 0x76d4_57ed, false, false),
        sci: "f0761e8dcd3d0001",
        data: (0x3a, 3),
        secured: [
            "0c017bc73b227dfcc9bafa1c41acc353",
            "35217c774bbc31b63166bcf9d4abed07",
            "abc40685a3cf911d3787e49db6a7265e",
            "ac21957b8312ab3c99ab46849879c3f3",
        ],
    },
    Packet {
        clause: "C.4, 54 bytes, confidentiality",
        keys: KEYS_B,
        addresses: "e20106d7cd0d f0761e8dcd3d",
        tag: "88e5 4c 2a 76d457ed",
        seal: seal(0, 0x76d4_57ed, true, false),
        sci: "f0761e8dcd3d0001",
        data: (0x34, 4),
        secured: [
            "13b4c72b389dc5018e72a171dd85a5d3 752274d3a019fbcaed09a425cd9b2e1c \
             9b72eee7c9de7d52b3f3 d6a5284f4a6d3fe22a5d6c2b960494c3",
            "c1623f55730c93533097addad2566496 6125352b43adacbd61c5ef3ac90b5bee \
             929ce4630ea79f6ce519 12af39c2d1fdc2051f8b7b3c9d397ef2",
            "9ca46984430203ed416ebdc2fe2622ba 3e5eab6961c36383009e187e9b0c8856 \
             4653b9abd216441c6ab6 f0a232e9e44c978cf7cd84d43484d101",
            "88d9f7d1f1578ee34ba7b1abc89893ef 1d3398c9f1dd3e47fbd8553e0ff786ef \
             5699eb01ea10420d0ebd 39a0e273c4c7f95ed843207d7a497dfa",
        ],
    },
    Packet {
        clause: "C.5, 65 bytes, integrity",
        keys: KEYS_C,
        addresses: "84c5d513d2aa f6e5bbd27277",
        tag: "88e5 23 00 8932d612 7cfde9f9e33724c6",
        seal: seal(3, 0x8932_d612, false, true),
        sci: "7cfde9f9e33724c6",
        data: (0x3f, 5),
        secured: [
            "217867e50c2dad74c28c3b50abdf695a",
            "6ee160e8faeca4b36c86b234920ca975",
            "678559b7e52db00682e3b83034cebe59",
            "84bac8e53d1ea355a5c7d334840ae962",
        ],
    },
    Packet {
        clause: "C.6, 61 bytes, confidentiality",
        keys: KEYS_C,
        addresses: "84c5d513d2aa f6e5bbd27277",
        tag: "88e5 2f 00 8932d612 7cfde9f9e33724c6",
        seal: seal(3, 0x8932_d612, true, true),
        sci: "7cfde9f9e33724c6",
        data: (0x3b, 6),
        secured: [
            "3a4de6fa32191014dbb303d92ee3a9e8 a1b599c14d22fb080096e13811816a3c \
             9c9bcf7c1b9b96da809204e29d0e2a76 42 bfd310a4837c816ccfa5ac23ab003988",
            "110222ff8050cbece66a813ad09a73ed 7a9a089c106b959389168ed6e8698ea9 \
             02eb1277dbec2e68e473155a15a7daee d4 a10f4e05139c23df00b3aadc71f0596a",
            "14c17693bc8297ee6c47c565cbe0679e 80f00fcaf592c9aa0473928e7f2f216f \
             f5a033dec7513f45d34cbb981c5bd64e 8b d84b8e2a78e74dafeaa03846fe930c0e",
            "0996e0c9a55774e0a792304e7dc150bd 67fd747dd1b9419594bf373d4ace8f87 \
             f5c1349afac491aa0a40d3199087b29f df 802f050e691f11a2d9b358f6994184f5",
        ],
    },
    Packet {
        clause: "C.7, 79 bytes, integrity",
        keys: KEYS_D,
        addresses: "68f2e77696ce 7ae8e2ca4ec5",
        tag: "88e5 41 00 2e58495c",
        seal: seal(1, 0x2e58_495c, false, false),
        sci: "7ae8e2ca4ec50001",
        data: (0x4d, 7),
        secured: [
            "07922b8ebcf10bb2297588ca4c614523",
            "00bda1b7e87608bcbf470f12157f4c07",
            "d0dc896dc83798a79f3c5a95ba3cdf9a",
            "04249a208a65b96b3f3263004cfd867d",
        ],
    },
    Packet {
        clause: "C.8, 75 bytes, confidentiality",
        keys: KEYS_D,
        addresses: "68f2e77696ce 7ae8e2ca4ec5",
        tag: "88e5 4d 00 2e58495c",
        seal: seal(1, 0x2e58_495c, true, false),
        sci: "7ae8e2ca4ec50001",
        data: (0x49, 8),
        secured: [
            "c31f53d99e5687f7365119b832d2aae7 0741d593f1f9e2ab3455779b078eb8fe acdfec1f8e3e5277f8180b43361f6512 \
             adb16d2e38548a2c719dba7228d840 88f8757adb8aa788d8f65ad668be70e7",
            "ba8ae31bc506486d6873e4fce460e7dc 57591ff00611f31c3834fe1c04ad80b6 6803afcf5b27e6333fa67c99da47c2f0 \
             ced68d531bd741a943cff7a6713bd0 2611cd7daa01d61c5c886dc1a8170107",
            "eaecc6af6512fc8b6c8c43bc55b190b2 626d07d3d218faf5daa7d8f800a57331 eb43b5a17a37e5b1d60d275ccaf7acd7 \
             04cc9ace2bf8bc8b9b23b9adf02f87 346b96d1136a754df0a6cde126c107f8",
            "b0fea36318b9b36466c46e9e1bda1a26 6858196e7e70d882ae70475668cde4ec 883f6ac2369f284bed1fe32f42092fdf \
             f5868a3c64e5615192a7a3760b34bc 85692cd815b664711aef911df78d7f46",
        ],
    },
];
