import Application
import Files

/// Which fences stand around scripts.
public struct FenceReport: Sendable, Hashable {
    /// How the host keeps paths beneath what is granted, "openat2"; nil when its own fence is down.
    public var pathMethod: String?
    /// Landlock's ABI, when the kernel's fence stands.
    public var kernelABI: Int?
    /// Why it does not, when it was asked for.
    public var kernelProblem: String?

    /// In a few words, for the banner: `paths (openat2) and Landlock ABI 7`.
    public var text: String {
        let fences = [pathMethod.map { "paths (\($0))" }, kernelABI.map { "Landlock ABI \($0)" }].compactMap { $0 }
        return fences.isEmpty ? "none" : fences.joined(separator: " and ")
    }

    /// Closes the kernel's fence as the options ask, around what they grant.
    ///
    /// - Throws: `LandlockError`, when it is required and can't be closed.
    static func closing(
        _ options: ScriptHostOptions, bundles: [ApplicationBundle], fence: PathFence
    ) throws -> FenceReport {
        var report = FenceReport(pathMethod: options.hasPathFence ? fence.method : nil)
        guard options.kernelFence != .off else { return report }
        do throws(LandlockError) {
            report.kernelABI = try Landlock.restrict(rules(options, bundles))
            // Whatever makes temporary files by itself is to make them where it may.
            Environment.set("TMPDIR", options.container.tmp)
        } catch {
            if options.kernelFence == .required { throw error }
            report.kernelProblem = error.message
        }
        return report
    }

    private static func rules(_ options: ScriptHostOptions, _ bundles: [ApplicationBundle]) -> LandlockRules {
        var rules = LandlockRules.host
        if options.isReadOnly {
            rules.readOnly.append(options.container.path)
        } else {
            rules.readWrite.append(options.container.path)
        }
        // The host removes it when all else is done, and its name is in the folder above.
        if options.container.isTemporary { rules.removeFolders.append(PathText.parent(of: options.container.path)) }
        rules.readWrite += options.writable
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
