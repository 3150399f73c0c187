import KeyedArchive

/// A class that a script declared by `archiver.class`, without what belongs to Lua: its methods and instances.
final class ScriptClass {
    let name: String
    /// Other names that archives know it by.
    let aliases: [String]
    let isSecure: Bool
    let superclass: ScriptClass?

    init(_ name: String, aliases: [String], isSecure: Bool, superclass: ScriptClass?) {
        self.name = name
        self.aliases = aliases
        self.isSecure = isSecure
        self.superclass = superclass
    }

    /// The class as an archive describes it.
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
