import Application
import ArgumentParser
import Files
import Glibc
import Jupyter
import Lua
import Network
import SQLite
import Scripting
import SharedItems
import TimeZones

/// `cubby doctor`: the installation, the fences in force, and missing packages.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the installation: libraries, sandbox fences, terminal, and what is missing.")

    @Option(help: .container, completion: .container)
    var container: String?

    @Option(
        help: ArgumentHelp("Check the server of the shared collection at this address, too.", valueName: "url"))
    var shared: String?

    func run() throws {
        SignalMask.restore()
        var diagnosis = try Diagnosis(container)
        if let shared {
            try SharedArgument.using(shared) { (address) throws(SharedError) in
                let status = try SharedStatus(address)
                diagnosis.lines += status.pairs
                diagnosis.advice += status.advice
            }
        }

        for line in diagnosis.lines.alignedLines { Report.line(line) }
        Report.line("")
        if diagnosis.advice.isEmpty { Report.line("Nothing is missing.") }
        for line in diagnosis.advice { Report.line(line) }
    }
}

/// What `cubby doctor` finds, and its advice.
private struct Diagnosis {
    var lines: [(String, String)] = []
    var advice: [String] = []

    /// - Parameter container: as the option names it.
    /// - Throws: the exit status, after a message.
    init(_ container: String?) throws {
        lines.append(("cubby", "\(ProgramVersion.number), \(ProgramPath.current ?? "where?")"))
        lines.append(("system", System.kernel))
        lines.append(("Lua", luaVersion()))
        describePictures()
        if ContainerArgument.isMemory(container) {
            let folder = MemoryContainer.parent()
            lines.append(("container", "in memory: a new folder in \(folder) for each run, the items in the process"))
        } else {
            let container = try ContainerArgument.locate(container)
            describeContainer(container)
            try describeConfiguration(of: container)
            lines.append(("budgets", ScriptHostOptions(container: container).budgets))
        }
        describeFences()
        let source = MemoryPressureSource.find()
        let pressure = source?.arm()
        add(
            "memory", pressure.map { "warnings from the \($0.origin.rawValue) (\($0.path))" }, otherwise: "no warnings",
            "Memory warnings need a kernel with pressure stall information (psi=1).")
        lines.append(("script memory", describeMemory()))
        lines.append(("terminal", describeTerminal()))
        describeNetwork()
        describeSQL()
        add(
            "tar", System.find("tar"), otherwise: "missing", "Backups as one file need tar: apt-get install tar.")
        let hasZones = PosixFileLayer().exists(ZoneDatabase.systemFolder)
        add(
            "time zones", hasZones ? ZoneDatabase.systemFolder : nil, otherwise: "UTC and offsets",
            "Time zones by name need tzdata: apt-get install tzdata.")
    }

    /// Adds a line for what the system has, or one for what it lacks, with advice.
    private mutating func add(_ name: String, _ found: String?, otherwise: String, _ advice: String) {
        lines.append((name, found ?? otherwise))
        if found == nil { self.advice.append(advice) }
    }

    private func luaVersion() -> String {
        guard let state = try? LuaState() else { return "cannot be started" }
        defer { state.close() }
        return state.globals["_VERSION"].textValue ?? "?"
    }

    private mutating func describePictures() {
        let library = dlopen("libvips.so.42", RTLD_LAZY) ?? dlopen("libvips.so", RTLD_LAZY)
        add(
            "pictures", library.map { _ in "libvips" }, otherwise: "JPEG as it is, no conversion: libvips is missing",
            "Pictures need libvips: apt-get install libvips42.")
        if let library { dlclose(library) }
    }

    private mutating func describeNetwork() {
        add(
            "http", try? CurlLibrary().version, otherwise: "not available: libcurl is missing",
            "http needs libcurl: apt-get install libcurl4.")
        add(
            "notebooks", (try? MessagingLibrary()).map { _ in "libzmq" }, otherwise: "not available: libzmq is missing",
            "cubby kernel needs libzmq: apt-get install libzmq5.")
        if (Landlock.abi ?? 0) < Landlock.networkABI {
            advice.append(
                "The kernel cannot hold the network (Landlock ABI \(Landlock.networkABI), Linux 6.7): programs that scripts start may connect anywhere."
            )
        }
    }

    private mutating func describeSQL() {
        do throws(SQLiteError) { lines.append(("SQL", "SQLite \(try SQLiteDatabase.libraryVersion())")) } catch {
            lines.append(("SQL", "not available: \(error)"))
            advice.append("sql, sqlite and .sqlite files need SQLite: apt-get install libsqlite3-0.")
        }
    }

    private mutating func describeContainer(_ container: ApplicationContainer) {
        let layer = PosixFileLayer()
        var text = container.displayPath
        if let holder = FolderLock.holder(of: container.path) {
            text += ", in use by \(holder.text)"
        } else {
            text += layer.exists(container.documents) ? ", free" : ", not there yet: the first run makes it"
        }
        lines.append(("container", text))
        do throws(FileError) {
            if layer.exists(container.path) {
                advice += ContainerExposure.all(in: container, using: try container.openExisting()).map(\.description)
            }
        } catch {
            advice.append(error.message)
        }
        if layer.exists(container.path), access(container.path, W_OK) != 0 {
            advice.append("\(container.displayPath) cannot be written: only --read-only opens it.")
        }
    }

    private mutating func describeConfiguration(of container: ApplicationContainer) throws {
        var configuration = Configuration()
        do throws(ConfigurationError) {
            guard let folder = ConfigurationFolder.locate() else { throw ConfigurationError.noHome }
            let file = try ConfigurationFile(for: container, in: folder)
            let path = DisplayPath.abbreviate(file.path)
            if let read = try file.read() {
                configuration = read
                let permissions = (try? PosixFileLayer().status(file.path))??.permissions ?? 0
                lines.append(("configuration", "\(path), mode \(String(permissions, radix: 8))"))
                let changed = read.unapproved(for: file.identity)
                if !changed.isEmpty {
                    let error = ConfigurationError.changed(path: file.path, parts: changed)
                    advice.append(
                        "\(error.message). cubby --container \(container.displayPath) config approve approves it.")
                }
            } else {
                lines.append(("configuration", "none; cubby config set and grant make \(path)"))
            }
        } catch {
            lines.append(("configuration", "not used"))
            advice.append(error.message)
        }
        let settings = try SettingsInForce(HostOptions.parse([]), configuration.settings, in: container)
        lines.append(("settings", settings.summary))
        advice += settings.remarks
        if let variable = LuaPath.value {
            let report = LuaPathReport(
                variable,
                granted: settings.configuredModulePaths + [container.path]
                    + configuration.grants.filter { $0.kind != .run }.map(\.path),
                base: WorkingDirectory.path ?? "/")
            lines.append(("LUA_PATH", report.text))
            if !report.missing.isEmpty {
                advice.append(
                    "LUA_PATH is searched where it is granted: cubby config set module-path \(report.missing.joined(separator: ":")) grants the rest."
                )
            }
        }
        for grant in configuration.grants {
            lines.append(("grant", "\(grant.title), \(grant.state.rawValue) \(grant.time)"))
            if grant.state == .changed { advice.append("\(grant.title) is not what was granted: grant it anew.") }
        }
    }

    private mutating func describeFences() {
        lines.append(("path fence", PathFence(base: "/").method))
        if let abi = Landlock.abi {
            let lacks = [(2, "renames between folders"), (3, "truncation"), (4, "TCP"), (6, "signals to others")]
                .filter { abi < $0.0 }.map(\.1)
            lines.append(
                (
                    "kernel fence",
                    "Landlock ABI \(abi)\(lacks.isEmpty ? "" : ", which does not know " + lacks.joined(separator: ", "))"
                ))
        } else {
            lines.append(("kernel fence", "none: \(LandlockError.unsupported.message)"))
            advice.append("Programs that scripts start can write the configuration: only its approval tells of that.")
            advice.append(
                "Scripts are held by the path fence alone; --require-sandbox refuses to run them here. Landlock needs Linux 5.13 or newer, with landlock in /sys/kernel/security/lsm."
            )
        }
    }

    private func describeMemory() -> String {
        guard let memory = MachineMemory.find(), let limit = Setting.memoryLimit.standard else {
            return "no limit by default: the system does not tell how much memory there is"
        }
        return
            "\(limit) MB by default, three quarters of the \(memory.origin.rawValue)'s \(memory.bytes >> 20) MB; --memory-limit sets another, or 0 for none"
    }

    private func describeTerminal() -> String {
        guard StandardStream.output.isTerminal else { return "none" }
        let name = ProcessEnvironment.value("TERM") ?? "without a name"
        let color = ProcessEnvironment.value("COLORTERM").map { ", \($0)" } ?? ""
        return name + color
    }

    private enum System {
        static var kernel: String {
            var name = utsname()
            guard uname(&name) == 0 else { return "?" }
            func text<T>(_ field: T) -> String {
                withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            }
            return "\(text(name.sysname)) \(text(name.release)), \(text(name.machine))"
        }

        /// Finds a program in PATH.
        static func find(_ program: String) -> String? {
            (ProcessEnvironment.value("PATH") ?? "").split(separator: ":").map { PathText.join(String($0), program) }
                .first { access($0, X_OK) == 0 }
        }
    }
}
