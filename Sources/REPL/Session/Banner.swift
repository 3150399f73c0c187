import Application
import Glibc
import Items
import Scripting
import Wording

/// The lines of the greeting.
enum Banner {
    static func text(_ host: ScriptHost) -> String {
        """
        Cubby \(CubbyVersion.string) · Lua 5.4 · container \(host.container.title) · \(host.items.count.counted("item")) · sandbox: \(host.sandboxDescription)\(host.options.isReadOnly ? " · read-only" : "")
        Type :help or :tutorial, Ctrl-Z to go to the background, Ctrl-D to leave.

        """
    }

    /// The greeting of a prompt attached to a running host.
    static func attached(_ host: ScriptHost) -> String {
        """
        Attached to \(host.options.applicationName), process \(getpid()), in \(host.container.title) · \(host.items.count.counted("item")) · \(host.applicationState.rawValue) · sandbox: \(host.sandboxDescription)
        Ctrl-D leaves; the host goes on.

        """
    }
}
