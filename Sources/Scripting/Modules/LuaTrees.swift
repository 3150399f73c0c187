import Application
import Files

/// Where LuaRocks and the system keep modules for Lua 5.4.
enum LuaTrees {
    /// The trees: the user's, the administrator's, the distribution's.
    private static var roots: [String] {
        [HomeFolder.path.map { PathText.join($0, ".luarocks") }, "/usr/local", "/usr"].compactMap { $0 }
    }

    /// The folders of modules in Lua.
    static var folders: [String] { roots.map { PathText.join($0, "share/lua/5.4") } }

    /// What a fence has to let in for them: the trees of all versions, as Debian's 5.4 links to its 5.1.
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

    /// Where a native module of this name is; nil when there is none.
    static func native(_ file: String) -> String? {
        nativeFolders.map { PathText.join($0, file + ".so") }.first { PosixFileLayer().exists($0) }
    }
}
