import Application
import Files
import Lua
import PropertyList
import Scripting

/// Runs the files `prompt.lua` when a prompt begins: the user's beside the configuration, then the container's, which
/// may override settings. Scripts and jobs do not run them.
extension REPL {
    func runPromptFiles() {
        guard host.options.runsInitScript else { return }
        if let folder = ConfigurationFolder.locate() {
            let path = PathText.join(folder, "prompt.lua")
            runPromptFile(path, PosixFileLayer()) { status in
                status.isWritableByOthers ? "somebody other than you can write it" : nil
            }
        }
        let path = PathText.join(host.container.scripts, "prompt.lua")
        runPromptFile(path, host.files) { _ in
            ContainerExposure.first(onTheWayTo: path, in: host.container, using: host.files)?.description
        }
    }

    /// Runs a file. A failing file is reported and skipped: the prompt still begins.
    private func runPromptFile(_ path: String, _ layer: any FileLayer, exposure: (FileStatus) -> String?) {
        let name = DisplayPath.abbreviate(path)
        do throws(FileError) {
            guard let status = try layer.status(RealPath.ofExistingPart(of: path)) else { return }
            if let exposure = exposure(status) { return complain("\(name) is not run: \(exposure)") }
            let source = try layer.contents(of: path, limit: 1 << 20)
            host.sources.remember(String(decoding: source, as: UTF8.self), as: name)
            settings.files.append(name)
            guard case .failure(let error) = host.run(source, name: "@" + name) else { return }
            report(error)
        } catch { complain(error.message) }
        complain("(\(name) was skipped; the rest goes on)")
    }
}
