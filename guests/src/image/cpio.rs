//! An archive as the kernel unpacks it into its first file system: the "new ASCII" format of cpio (the kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::collections::BTreeSet;

const MAGIC: &str = "070701";
const TRAILER: &str = "TRAILER!!!";
const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;

/// An archive under way. Folders come by themselves.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    inode: u32,
    folders: BTreeSet<String>,
}

impl Archive {
    /// Adds a file that may be executed, at this path without a `/` before it.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) {
        self.folders_of(path);
        self.entry(path, PROGRAM, content);
    }

    /// Adds a symbolic link at this path.
    pub(super) fn link(&mut self, path: &str, to: &str) {
        self.folders_of(path);
        self.entry(path, LINK, to.as_bytes());
    }

    /// Adds a folder, and those that it is in.
    pub(super) fn folder(&mut self, path: &str) {
        self.folders_of(path);
        if self.folders.insert(path.to_owned()) {
            self.entry(path, FOLDER, &[]);
        }
    }

    /// The archive, ended.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry(TRAILER, 0, &[]);
        self.bytes
    }

    fn folders_of(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            let folder = &path[..at];
            if self.folders.insert(folder.to_owned()) {
                self.entry(folder, FOLDER, &[]);
            }
        }
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.inode += 1;
        let size = u32::try_from(content.len()).expect("a file of a guest is below 4 GiB");
        let name = u32::try_from(path.len() + 1).expect("a path is short");
        // Inode, mode, owner, group, links, time, size, four numbers of devices, length of the name, checksum.
        let fields = [self.inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name, 0];
        self.bytes.extend_from_slice(MAGIC.as_bytes());
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.fill();
        self.bytes.extend_from_slice(content);
        self.fill();
    }

    /// Zeros up to a multiple of four.
    fn fill(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_of_an_archive() {
        let mut archive = Archive::default();
        archive.file("a/b", b"hi");
        let golden = concat!(
            "070701000000010000",
            "41ed0000000000000000000000010000000000000000",
            "00000000000000000000000000000000",
            "0000000200000000a\0",
            "070701000000020000",
            "81ed0000000000000000000000010000000000000002",
            "00000000000000000000000000000000",
            "0000000400000000a/b\0\0\0hi\0\0",
            "07070100000003000000000000000000000000000000010000000000000000",
            "000000000000000000000000000000000000000b00000000TRAILER!!!\0\0\0\0",
        );
        assert_eq!(String::from_utf8_lossy(&archive.finish()), golden);
    }

    #[test]
    fn a_folder_is_made_once() {
        let mut archive = Archive::default();
        archive.folder("x/y");
        archive.folder("x/y");
        archive.file("x/y/z", b"");
        assert_eq!(archive.inode, 3);
    }
}
