import CPlatform
package import Files
import Glibc

/// A program that scripts may start by its name, in its state at the time of the grant.
package struct ProgramGrant: Sendable, Hashable {
    /// The name by which scripts start it.
    package var name: String
    /// Its absolute path, without symbolic links.
    package var path: String
    /// The SHA-256 of its file, in hexadecimal digits.
    package var digest: String
    /// The absolute path by which it was granted, whose last component may be a link: the only path that scripts may
    /// write in place of the name.
    package var spelling: String

    package init(name: String, path: String, digest: String, spelling: String? = nil) {
        (self.name, self.path, self.digest, self.spelling) = (name, path, digest, spelling ?? path)
    }

    /// Whether its arguments can name other programs, which it starts with the user's rights.
    package var startsOtherPrograms: Bool {
        [name, PathText.name(of: path)].contains(where: ProgramStarters.contain)
    }

    /// Finds a program in `PATH`, or by a path with a slash, and reads its file.
    ///
    /// - Parameter program: its name or its path; scripts know it by the last component.
    /// - Throws: `FileError` if it does not exist, cannot be read, or can be written by other users.
    package init(_ program: String) throws(FileError) {
        guard let found = Self.find(program) else {
            throw FileError(.open, program, code: ENOENT, reason: "there is no such program in PATH")
        }
        name = PathText.name(of: program)
        spelling = PathText.absolute(found, from: WorkingDirectory.path ?? "/")
        path = try RealPath.of(found)
        guard access(path, X_OK) == 0 else { throw FileError(.open, path, code: EACCES, reason: "it is not a program") }
        let file = try ProgramFile(path)
        guard !file.status.isWritableByAnother else {
            throw FileError(
                .open, path, code: EPERM, reason: "somebody other than you can write it; chmod go-w mends that")
        }
        digest = file.digest
    }

    private static func find(_ program: String) -> String? {
        if program.utf8.contains(UInt8(ascii: "/")) { return program }
        return (ProcessEnvironment.value("PATH") ?? "").split(separator: ":").map { PathText.join(String($0), program) }
            .first { access($0, X_OK) == 0 && (try? PosixFileLayer().status($0 + "/.")) == .some(nil) }
    }
}

/// A program's open file: its bytes are checked and started by the same descriptor, so that the file cannot be
/// exchanged in between.
package final class ProgramFile {
    /// The file's identity and the times of its changes; equal stamps are equal bytes.
    package struct Stamp: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let modified: [Int]
        let changed: [Int]
    }

    let descriptor: Int32
    package let status: FileStatus
    package let stamp: Stamp
    /// The SHA-256 in hexadecimal digits.
    package let digest: String
    /// Whether an interpreter reads the file after the start (`#!`).
    let isScript: Bool

    /// Opens and reads a program.
    ///
    /// - Parameters:
    ///   - path: without links; a link is refused.
    ///   - known: the digests of files that were read before.
    /// - Throws: `FileError` if it is not a regular file, cannot be read, or changes meanwhile.
    package init(_ path: String, known: [Stamp: String] = [:]) throws(FileError) {
        let opened = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard opened >= 0 else { throw FileError(.open, path, code: errno) }
        // Above the standard streams, which are replaced in the child.
        descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 3)
        let code = errno
        close(opened)
        guard descriptor >= 0 else { throw FileError(.open, path, code: code) }
        do throws(FileError) {
            (stamp, status) = try Self.look(descriptor, path)
            guard status.kind == .regular else {
                throw FileError(.open, path, code: EACCES, reason: "it is not a regular file")
            }
            var start: [UInt8] = [0, 0]
            isScript = pread(descriptor, &start, 2, 0) == 2 && start == Array("#!".utf8)
            if let known = known[stamp] {
                digest = known
            } else {
                digest = try Self.digest(OpenFile(descriptor: descriptor, path: path))
            }
            guard try Self.look(descriptor, path).stamp == stamp else {
                throw FileError(.read, path, code: EBUSY, reason: "it changed while it was read")
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Whether the stamp detects later changes: times within one clock tick are equal.
    package var isSettled: Bool {
        (stamp.changed.first ?? .max) < timespec.now().tv_sec &- 2
    }

    private static func look(_ descriptor: Int32, _ path: String) throws(FileError) -> (stamp: Stamp, FileStatus) {
        var raw = stat()
        guard fstat(descriptor, &raw) == 0 else { throw FileError(.status, path, code: errno) }
        let stamp = Stamp(
            device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino), size: Int64(raw.st_size),
            modified: [raw.st_mtim.tv_sec, raw.st_mtim.tv_nsec], changed: [raw.st_ctim.tv_sec, raw.st_ctim.tv_nsec])
        return (stamp, FileStatus(raw))
    }

    private static func digest(_ file: OpenFile) throws(FileError) -> String {
        var digest = SHA256()
        try PosixFileLayer().forEachPiece(of: file) { piece in digest.update(piece) }
        return digest.finish().hexadecimal
    }
}

/// The programs whose arguments, input or settings can start other programs: a grant of one is a grant of all.
///
/// The list warns, and decides nothing: a program that is absent may start others, too.
enum ProgramStarters {
    /// Whether a program starts others, by the name of its file: with a version (`python3.11`, `gcc-12`) or a flavour
    /// (`vim.tiny`), too.
    static func contain(_ name: String) -> Bool {
        let plain = name.prefix { $0 != "." }
        return [name[...], plain, withoutVersion(name[...]), withoutVersion(plain)].contains { names.contains($0) }
    }

    private static func withoutVersion(_ name: Substring) -> Substring {
        var name = name
        while let last = name.last, "0123456789.-_".contains(last) { name.removeLast() }
        return name
    }

    private static let names = Set((recorded + " " + rest).split { $0 == " " || $0 == "\n" })

    /// The entries of GTFOBins (https://gtfobins.github.io, April 2026) under one of its categories "shell", "command",
    /// "reverse shell", "bind shell", "library load" or "inherit", and their aliases.
    private static let recorded = """
        aa-exec acr agetty ansible-playbook ansible-test aoss apport-cli apt apt-get aptitude arch-nspawn aria2c ash
        asterisk at autoconf autoheader autoreconf awk aws bash bashbug batcat bconsole bee borg bpftrace bundle
        bundler busctl busybox byebug c89 c99 cabal capsh cargo cc cdist certbot check_by_ssh check_ssl_cert choom
        chroot chrt clisp cmake cobc code codex composer cowsay cowthink cpan cpio cpulimit crash crontab csh
        csvtool ctr curl dash dc debugfs dhclient distcc dmesg dmsetup dnf dnsmasq doas docker dotnet dpkg dstat
        dvips easy_install easyrsa eb ed elvish emacs enscript env ex exiftool expect facter fail2ban-client
        fastfetch ffmpeg find firejail fish flock forge ftp fzf g++ gawk gcc gcloud gdb gem genie ghc ghci gimp
        ginsh git gnuplot go grc gtester guile hg hping3 iftop ionice ip irb ispell java jjs joe journalctl
        jrunscript jshell jtag julia knife ksh ksu kubectl latex latexmk ld.so ldconfig less lftp loginctl logrotate
        logsave ltrace lua lualatex luatex lxd m4 mail make man mawk minicom more mosh-server msfconsole msgfilter
        multitime mysql nano nawk nc ncdu ncftp needrestart neofetch nginx nice nmap node nohup npm nroff nsenter
        nvim octave opencode openssl openvpn openvt opkg pandoc pdb pdflatex pdftex perf perl perlbug pexec pg php
        pic pico pidstat pip pipx pkexec pkg plymouth podman poetry posh procmail pry psftp psql puppet pwsh python
        R rake ranger rc red restic rlwrap rpm rpmdb rpmquery rpmverify rsync rsyslogd rtorrent ruby run-mailcap
        run-parts runscript rustc rustup rvim sash scanmem scp screen script scrot sed service setarch setlock sftp
        sg slsh smbclient snap socat softlimit split sqlite3 sqlmap ssh ssh-agent ssh-keygen sshfs sshpass sshuttle
        start-stop-daemon stdbuf strace su sudo sysctl systemctl systemd-resolve systemd-run tar task taskset tasksh
        tclsh tcpdump tcsh tdbtool telnet tex time timedatectl timeout tmate tmux top torify torsocks tshark unshare
        uv vagrant valgrind vi view vigr vim vimdiff vipw virsh volatility watch wg-quick wget wireshark wish xargs
        xdg-user-dir xdotool xelatex xetex yarn yash yt-dlp yum zathura zic zip zless zsh zypper
        """

    /// Programs of many names, interpreters, and programs that are made to start others, which have no entry there.
    private static let rest = """
        bmake bun bwrap clang coreutils cubby dbus-run-session deno elixir entr erl fakeroot fd flatpak gmake guix
        helix hx iex kitty luajit mariadb mksh ninja nix nix-shell npx parallel pnpm prlimit proot pypy run0 setpriv
        setsid sh sqlite swift toybox xterm
        """
}
