import Application
import Files

/// The module trees of LuaRocks and the system for Lua 5.4.
enum LuaTrees {
    /// The trees of the user, the administrator and the distribution.
    private static var roots: [String] {
        [HomeFolder.path.map { PathText.join($0, ".luarocks") }, "/usr/local", "/usr"].compactMap { $0 }
    }

    /// The folders of Lua modules.
    static var folders: [String] { roots.map { PathText.join($0, "share/lua/5.4") } }

    /// The folders that a fence must grant for them: the trees of all versions, since Debian's 5.4 links to its 5.1.
    static var granted: [String] { folders.map(PathText.parent(of:)) }

    /// The folders of C modules.
    static var nativeFolders: [String] {
        var folders = roots.map { PathText.join($0, "lib/lua/5.4") }
        #if arch(x86_64)
        folders.append("/usr/lib/x86_64-linux-gnu/lua/5.4")
        #elseif arch(arm64)
        folders.append("/usr/lib/aarch64-linux-gnu/lua/5.4")
        #endif
        return folders
    }

    /// The path of a native module; nil when there is none.
    static func native(_ file: String) -> String? {
        nativeFolders.map { PathText.join($0, file + ".so") }.first { PosixFileLayer().exists($0) }
    }
}
