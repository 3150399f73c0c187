import KeyedArchive

/// A class declared by `archiver.class`, without its Lua part: methods and instances.
final class ScriptClass {
    let name: String
    /// Its other names in archives.
    let aliases: [String]
    let isSecure: Bool
    let superclass: ScriptClass?

    init(_ name: String, aliases: [String], isSecure: Bool, superclass: ScriptClass?) {
        self.name = name
        self.aliases = aliases
        self.isSecure = isSecure
        self.superclass = superclass
    }

    /// The class's description in archives.
    private(set) lazy var archivedClass: ArchivedClass = {
        var names: [String] = []
        var above = superclass
        while let next = above {
            names.append(next.name)
            above = next.superclass
        }
        return ArchivedClass(name, superclasses: names + ["NSObject"])
    }()
}
