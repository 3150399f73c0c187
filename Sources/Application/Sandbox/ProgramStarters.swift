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

    private static let names = Set((recorded + " " + others).split { $0 == " " || $0 == "\n" })

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
    private static let others = """
        bmake bun bwrap clang coreutils cubby dbus-run-session deno elixir entr erl fakeroot fd flatpak gmake guix
        helix hx iex kitty luajit mariadb mksh ninja nix nix-shell npx parallel pnpm prlimit proot pypy run0 setpriv
        setsid sh sqlite swift toybox xterm
        """
}
