import Files

/// The folder of the user's configuration: `$XDG_CONFIG_HOME/cubby`, else `~/.config/cubby`. Closed to scripts.
package enum ConfigurationFolder {
    /// Its path without links; it need not exist.
    ///
    /// - Parameter environment: reads a variable; the process's environment if not given.
    /// - Returns: nil without a home folder.
    package static func locate(environment: (String) -> String? = { Environment.value($0) }) -> String? {
        // The XDG specification requires relative paths to be ignored.
        if let base = environment("XDG_CONFIG_HOME"), base.hasPrefix("/") { return resolve(base, "cubby") }
        return HomeFolder.path.map { resolve($0, ".config/cubby") }
    }

    private static func resolve(_ base: String, _ name: String) -> String {
        RealPath.ofExistingPart(of: PathText.absolute(name, from: PathText.absolute(base, from: "/")))
    }
}
