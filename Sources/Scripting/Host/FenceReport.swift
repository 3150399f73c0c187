import Application
import Files

/// The fences in force around scripts.
public struct FenceReport: Sendable, Hashable {
    /// The mechanism that keeps paths beneath their grants, "openat2"; nil when the host's own fence is off.
    public var pathMethod: String?
    /// Landlock's ABI version, when the kernel's fence is in force.
    public var kernelABI: Int?
    /// The reason why a requested kernel's fence is not in force.
    public var kernelProblem: String?

    /// A short text for the banner: `paths (openat2) and Landlock ABI 7`.
    public var text: String {
        let fences = [pathMethod.map { "paths (\($0))" }, kernelABI.map { "Landlock ABI \($0)" }].compactMap { $0 }
        return fences.isEmpty ? "none" : fences.joined(separator: " and ")
    }

    /// Closes the kernel's fence around the options' grants.
    ///
    /// - Throws: `LandlockError`, when it is required and can't be closed.
    static func closing(
        _ options: ScriptHostOptions, bundles: [ApplicationBundle], fence: PathFence, others: LandlockRules
    ) throws -> FenceReport {
        var report = FenceReport(pathMethod: options.hasPathFence ? fence.method : nil)
        report.kernelABI = options.kernelABI
        guard options.kernelFence != .off, options.kernelABI == nil else { return report }
        do throws(LandlockError) {
            var rules = rules(options, bundles)
            rules.add(others)
            report.kernelABI = try Landlock.restrict(rules)
            // Makes libraries create temporary files in a folder that they may write to.
            Environment.set("TMPDIR", options.container.tmp)
        } catch {
            if options.kernelFence == .required { throw error }
            report.kernelProblem = error.message
        }
        return report
    }

    /// Whether the kernel's fence is wanted, and lets the programs of scripts read a folder: a grant contains it.
    static func opensToPrograms(_ folder: String, _ options: ScriptHostOptions) -> Bool {
        guard options.kernelFence != .off || options.kernelABI != nil, Landlock.abi != nil,
            options.allowsRunning || !options.programs.isEmpty || options.allowsNativeModules
        else { return false }
        let rules = rules(options, [])
        return (rules.readWrite + rules.readOnly + rules.execute).contains { path in
            let root = RealPath.ofExistingPart(of: PathText.absolute(path, from: WorkingDirectory.path ?? "/"))
            return folder == root || folder.hasPrefix(root == "/" ? "/" : root + "/")
        }
    }

    private static func rules(_ options: ScriptHostOptions, _ bundles: [ApplicationBundle]) -> LandlockRules {
        var rules = LandlockRules.host
        if options.isReadOnly {
            rules.readOnly.append(options.container.path)
        } else {
            rules.readWrite.append(options.container.path)
        }
        // The host removes the container at the end, which changes the folder above.
        if options.container.isTemporary { rules.removeFolders.append(PathText.parent(of: options.container.path)) }
        rules.readWrite += options.writable
        rules.execute += options.programs.map(\.path)
        rules.optional.formUnion(options.programs.map(\.path))
        rules.readOnly += options.readable + options.modulePaths + bundles.map(\.path)
        if options.usesLuaTrees {
            rules.readOnly += LuaTrees.granted
            rules.optional.formUnion(LuaTrees.granted)
        }
        if options.allowsNativeModules {
            rules.readOnly += LuaTrees.nativeFolders
            rules.optional.formUnion(LuaTrees.nativeFolders)
        }
        return rules
    }
}
