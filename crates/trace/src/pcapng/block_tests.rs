use super::*;

/// Section 4.1 of the draft, with the options of sections 3.5.1 and 4.1: byte by byte.
#[test]
fn a_section_header_block() {
    let mut out = Vec::new();
    section(&mut out, "me", "hi!");
    let want: &[&[u8]] = &[
        &[0x0A, 0x0D, 0x0D, 0x0A],
        &48_u32.to_le_bytes(),
        &[0x4D, 0x3C, 0x2B, 0x1A],
        &[1, 0, 0, 0],
        &[0xFF; 8],
        &[4, 0, 2, 0, b'm', b'e', 0, 0],
        &[1, 0, 3, 0, b'h', b'i', b'!', 0],
        &[0; 4],
        &48_u32.to_le_bytes(),
    ];
    assert_eq!(out, want.concat());
}

/// Section 4.2: link type, reserved, snap length, options.
#[test]
fn an_interface_description_block() {
    let mut out = Vec::new();
    let speed = Some(10_000_000);
    interface(
        &mut out,
        &Interface {
            name: "l".into(),
            description: "a to b".into(),
            linktype: ETHERNET,
            mac: Some([2, 0, 0, 0, 0, 1]),
            speed,
            snaplen: 114,
        },
    );
    let want: &[&[u8]] = &[
        &1_u32.to_le_bytes(),
        &84_u32.to_le_bytes(),
        &[1, 0, 0, 0, 114, 0, 0, 0],
        &[2, 0, 1, 0, b'l', 0, 0, 0],
        &[3, 0, 6, 0],
        b"a to b\0\0",
        &[6, 0, 6, 0, 2, 0, 0, 0, 0, 1, 0, 0],
        &[8, 0, 8, 0],
        &10_000_000_u64.to_le_bytes(),
        &[9, 0, 1, 0, 9, 0, 0, 0],
        &[13, 0, 1, 0, 0, 0, 0, 0],
        &[0; 4],
        &84_u32.to_le_bytes(),
    ];
    assert_eq!(out, want.concat());
}

/// Section 4.5: addresses with their names, an end record.
#[test]
fn a_name_resolution_block() {
    let mut out = Vec::new();
    names(&mut out, [("s0", [10, 0, 0, 1], [0xFD; 16])].into_iter());
    let want: &[&[u8]] = &[
        &4_u32.to_le_bytes(),
        &52_u32.to_le_bytes(),
        &[1, 0, 7, 0, 10, 0, 0, 1, b's', b'0', 0, 0],
        &[2, 0, 19, 0],
        &[0xFD; 16],
        &[b's', b'0', 0, 0],
        &[0; 4],
        &52_u32.to_le_bytes(),
    ];
    assert_eq!(out, want.concat());
}

/// Section 4.6: the time in two halves, high first, in any byte order.
#[test]
fn an_interface_statistics_block() {
    let mut out = Vec::new();
    statistics(&mut out, 3, 0x0000_0001_0000_0002, 7, 1);
    let want: &[&[u8]] = &[
        &5_u32.to_le_bytes(),
        &52_u32.to_le_bytes(),
        &[3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0],
        &[4, 0, 8, 0],
        &7_u64.to_le_bytes(),
        &[5, 0, 8, 0],
        &1_u64.to_le_bytes(),
        &[0; 4],
        &52_u32.to_le_bytes(),
    ];
    assert_eq!(out, want.concat());
}

/// Section 3.5: the length of a value has 16 bits; long names are cut between characters.
#[test]
fn long_names_are_cut() {
    let mut out = Vec::new();
    let name = "ä".repeat(LONGEST);
    section(&mut out, &name, "");
    assert_eq!(u16::from_le_bytes([out[26], out[27]]) as usize, LONGEST);
    assert_eq!(out.len() % 4, 0);
}
