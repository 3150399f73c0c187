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
        var lines: [(String, String)] = []
        var advice: [String] = []
        lines.append(("cubby", "\(ProgramVersion.number), \(ProgramPath.current ?? "where?")"))
        lines.append(("system", System.kernel))
        lines.append(("Lua", luaVersion()))
        describePictures(&lines, &advice)
        if ContainerArgument.isMemory(container) {
            let folder = MemoryContainer.parent()
            lines.append(("container", "in memory: a new folder in \(folder) for each run, the items in the process"))
        } else {
            let container = try ContainerArgument.locate(container)
            describeContainer(container, &lines, &advice)
            try describeConfiguration(of: container, &lines, &advice)
            lines.append(("budgets", ScriptHostOptions(container: container).budgets))
        }
        describeFences(&lines, &advice)
        let source = MemoryPressureSource.find()
        let pressure = source?.arm()
        lines.append(
            ("memory", pressure.map { "warnings from the \($0.origin.rawValue) (\($0.path))" } ?? "no warnings"))
        if pressure == nil { advice.append("Memory warnings need a kernel with pressure stall information (psi=1).") }
        lines.append(("script memory", describeMemory()))
        lines.append(("terminal", describeTerminal()))
        describeNetwork(&lines, &advice)
        describeSQL(&lines, &advice)
        let tar = System.find("tar")
        lines.append(("tar", tar ?? "missing"))
        if tar == nil { advice.append("Backups as one file need tar: apt-get install tar.") }
        let hasZones = PosixFileLayer().exists(ZoneDatabase.systemFolder)
        lines.append(("time zones", hasZones ? ZoneDatabase.systemFolder : "UTC and offsets"))
        if !hasZones { advice.append("Time zones by name need tzdata: apt-get install tzdata.") }

        if let shared {
            try SharedArgument.using(shared) { (address) throws(SharedError) in
                let status = try SharedStatus(address)
                lines += status.pairs
                advice += status.advice
            }
        }

        for line in lines.alignedLines { Report.line(line) }
        Report.line("")
        if advice.isEmpty { Report.line("Nothing is missing.") }
        for line in advice { Report.line(line) }
    }

    private func luaVersion() -> String {
        guard let state = try? LuaState() else { return "cannot be started" }
        defer { state.close() }
        return state.globals["_VERSION"].textValue ?? "?"
    }

    private func describePictures(_ lines: inout [(String, String)], _ advice: inout [String]) {
        let library = dlopen("libvips.so.42", RTLD_LAZY) ?? dlopen("libvips.so", RTLD_LAZY)
        lines.append(("pictures", library == nil ? "JPEG as it is, no conversion: libvips is missing" : "libvips"))
        guard let library else { return advice.append("Pictures need libvips: apt-get install libvips42.") }
        dlclose(library)
    }

    private func describeNetwork(_ lines: inout [(String, String)], _ advice: inout [String]) {
        do throws(HTTPError) { lines.append(("http", try CurlLibrary().version)) } catch {
            lines.append(("http", "not available: libcurl is missing"))
            advice.append("http needs libcurl: apt-get install libcurl4.")
        }
        let hasMessaging = (try? MessagingLibrary()) != nil
        lines.append(("notebooks", hasMessaging ? "libzmq" : "not available: libzmq is missing"))
        if !hasMessaging { advice.append("cubby kernel needs libzmq: apt-get install libzmq5.") }
        if (Landlock.abi ?? 0) < Landlock.networkABI {
            advice.append(
                "The kernel cannot hold the network (Landlock ABI \(Landlock.networkABI), Linux 6.7): programs that scripts start may connect anywhere."
            )
        }
    }

    private func describeSQL(_ lines: inout [(String, String)], _ advice: inout [String]) {
        do throws(SQLiteError) { lines.append(("SQL", "SQLite \(try SQLiteDatabase.libraryVersion())")) } catch {
            lines.append(("SQL", "not available: \(error)"))
            advice.append("sql, sqlite and .sqlite files need SQLite: apt-get install libsqlite3-0.")
        }
    }

    private func describeContainer(
        _ container: ApplicationContainer, _ lines: inout [(String, String)], _ advice: inout [String]
    ) {
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

    private func describeConfiguration(
        of container: ApplicationContainer, _ lines: inout [(String, String)], _ advice: inout [String]
    ) throws {
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

    private func describeFences(_ lines: inout [(String, String)], _ advice: inout [String]) {
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
