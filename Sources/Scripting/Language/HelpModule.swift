import Items
import Lua

/// `help()`: the text of the declarations.
enum HelpModule {
    static func install(in host: ScriptHost) {
        let declaration = LuaFunctionDeclaration(
            "help", [LuaParameter("subject", .optional(.any), "a module, an object, a function, or a name")],
            doc: "Lists the API, or shows the help on a subject.", example: "help(\"items.createItem\")")
        host.state.setGlobal(declaration) { [unowned host] call in
            let declarations = call.state.declarations
            let text: String
            if call.count == 0 {
                text = host.helpOverview
            } else if let described = host.activePrompt?.help(onUnknown: call.value(0)) {
                text = described
            } else if let subject = name(of: call.value(0), host), let found = host.helpText(on: subject) {
                text = found
            } else {
                let subject = (call.value(0).textValue ?? call.state.describe(call.value(0)).description)
                    .shortened(to: 200)
                let names =
                    declarations.all.map(\.name) + EventDeclaration.all.map(\.name)
                    + host.items.declaredFields.map(\.name)
                text = "Nothing is known of \(subject)\(NearestNames.hint(for: subject, among: names))\n"
            }
            if !(host.activeFrontEnd?.show(help: text) ?? false) { host.output.put(text: text) }
            return call.returnsNothing()
        }
    }

    /// The text of `help()`.
    static func overview(_ declarations: LuaDeclarations, _ schema: ItemSchema) -> String {
        var seen: NameSet = []
        // A module and the class of its values may have the same name: the module represents both.
        let shown = declarations.all.sorted { $0.kind == .module && $1.kind != .module }
            .filter { $0.isGlobal && !$0.isPartOfLua && seen.insert($0.name).inserted }.sorted {
                $0.name < $1.name
            }
        let width = shown.map(\.name.count).max() ?? 0
        let lines = shown.map { "  \($0.name.padded(to: width))  \($0.documentation)" }
        return "What a script has beside Lua's own library; help(items) shows more of one.\n\n"
            + lines.joined(separator: "\n")
            + "\n\nTry: "
            + (schema.isHousehold ? "items:randomItem()    items:query(\"valueInDollars > 50\")" : "items:fields()")
            + "    help(app)    help(\"items.createItem\")\n"
    }

    /// The name to look up for a value: a string is itself a name.
    private static func name(of value: LuaValue, _ host: ScriptHost) -> String? {
        switch value {
        case .string(let text): return text.text
        case .userdata(let userdata): return userdata.className
        case .table(let table):
            if let name = table.metatable?["__name"].textValue { return name }
        case .function: break
        default: return nil
        }
        return globalName(of: value, host)
    }

    /// The global name of a declared table or function: `io`, `print`, `io.open`, `items.createItem`.
    private static func globalName(of value: LuaValue, _ host: ScriptHost) -> String? {
        let globals = host.state.globals
        for declaration in host.state.declarations.all where declaration.isGlobal || !declaration.statics.isEmpty {
            let global = globals[declaration.name]
            if host.state.areEqual(global, value) { return declaration.name }
            for function in declaration.functions + declaration.statics where !function.name.isEmpty {
                let member = (try? host.state.field(function.name, of: global)) ?? .nil
                if host.state.areEqual(member, value) { return "\(declaration.name).\(function.name)" }
            }
        }
        return nil
    }

    /// All documented names in their notation, with the first sentence or two of their documentation.
    static func index(_ declarations: LuaDeclarations) -> [(name: String, text: String)] {
        var entries: [(name: String, text: String)] = []
        for owner in declarations.all where !owner.isPartOfLua {
            entries.append((owner.name, owner.documentation))
            for function in owner.functions + owner.statics where !function.name.isEmpty {
                // Without the results, which would make the line too long.
                let signature = owner.signature(of: function)
                entries.append(
                    (
                        String(signature.prefix(through: signature.firstIndex(of: ")") ?? signature.startIndex)),
                        function.documentation
                    ))
            }
            for property in owner.properties {
                entries.append(("\(owner.name).\(property.name)", property.documentation))
            }
        }
        for event in EventDeclaration.all {
            entries.append(("\(event.owner.rawValue):on(\"\(event.name)\")", event.documentation))
        }
        return entries
    }

    /// Looks up `items`, `items.createItem`, `items:createItem`, or just `createItem`.
    static func lookUp(_ subject: String, _ declarations: LuaDeclarations) -> String? {
        // No declaration has such a name.
        if subject.utf8.count > 1000 { return nil }
        let named = declarations.all.filter { $0.name == subject }
        if !named.isEmpty { return named.map(describe).joined(separator: "\n") }
        if let event = EventDeclaration.all.first(where: { $0.name == subject }) { return describe(event) }
        let parts = subject.split(whereSeparator: { $0.is(".") || $0.is(":") }).map(String.init)
        guard let member = parts.last else { return nil }
        func texts(_ isOwner: (LuaDeclaration) -> Bool) -> [String] {
            declarations.all.filter(isOwner).compactMap { owner in
                if let function = (owner.functions + owner.statics).first(where: { $0.name == member }) {
                    return describe(function, of: owner)
                }
                return owner.properties.first { $0.name == member }.map { describe($0, of: owner) }
            }
        }
        var found = texts { parts.count == 1 || $0.name == parts[0] }
        // An object is mostly called like its class: `item.image` of Item, `query:sum` of Query.
        if found.isEmpty { found = texts { $0.name.lowercased() == parts[0].lowercased() } }
        return found.isEmpty ? nil : found.joined(separator: "\n")
    }

    private static func describe(_ declaration: LuaDeclaration) -> String {
        var text = "\(declaration.name): \(declaration.documentation)\n"
        if !declaration.properties.isEmpty {
            text += "\nproperties\n"
            for property in declaration.properties.sorted(by: { $0.name < $1.name }) {
                text +=
                    "  .\(property.name)  \(property.type.name)\(property.isReadOnly ? ", read-only" : "")\n      \(property.documentation)\n"
            }
        }
        let events = EventDeclaration.all.filter { $0.owner.rawValue == declaration.name }
        if !events.isEmpty { text += "\nevents\n  \(events.map(\.name).joined(separator: ", "))\n" }
        if !declaration.operators.isEmpty {
            text += "\noperators\n"
            for each in declaration.operators {
                text += "  \(each.expression(on: declaration.name))  \(each.result.name)\n      \(each.documentation)\n"
            }
        }
        for (title, functions) in [
            ("functions", declaration.functions), ("functions of the class", declaration.statics),
        ]
        where !functions.isEmpty {
            text += "\n\(title)\n"
            for function in functions.sorted(by: { $0.name < $1.name }) {
                text += "  \(declaration.signature(of: function))\n      \(function.documentation)\n"
            }
        }
        return text
    }

    private static func describe(_ function: LuaFunctionDeclaration, of owner: LuaDeclaration) -> String {
        var text = "\(owner.signature(of: function))\n  \(function.documentation)\n"
        for parameter in function.parameters where !parameter.documentation.isEmpty || parameter.type != .any {
            text +=
                "  \(parameter.name): \(parameter.type.name)\(parameter.documentation.isEmpty ? "" : ", " + parameter.documentation)\n"
            for option in parameter.type.options ?? parameter.type.record?.fields ?? [] {
                text += "    \(option.name): \(option.type.name), \(option.documentation)\n"
            }
        }
        if !function.example.isEmpty { text += "  example: \(function.example)\n" }
        return text
    }

    private static func describe(_ event: EventDeclaration) -> String {
        var text = "\(event.owner.rawValue):on(\"\(event.name)\", …): \(event.documentation)\n"
        for field in event.payload { text += "  event.\(field.name): \(field.type.name), \(field.documentation)\n" }
        if event.allowsVeto { text += "  event:veto(reason) refuses it.\n" }
        return text
    }

    private static func describe(_ property: LuaPropertyDeclaration, of owner: LuaDeclaration) -> String {
        "\(owner.name).\(property.name): \(property.type.name)\(property.isReadOnly ? ", read-only" : "")\n  \(property.documentation)\n"
    }
}

/// Help on what is declared of the items' fields: `help(item)`, `help("price")`.
enum FieldHelp {
    /// The help on a field by its name, alone or behind `Item.`; nil if nothing is declared of it.
    static func text(_ subject: String, _ items: ItemStore) -> String? {
        guard items.hasDeclaredFields else { return nil }
        let name = subject.hasPrefix("Item.") ? String(subject.dropFirst("Item.".count)) : subject
        return items.declarations[name].map { "Item.\(self.name($0)): \($0.kind.rawValue)\n  \($0.documentation)\n" }
    }

    /// The declared fields, in order, as a part of the help on an item; empty if there are none.
    static func list(_ items: ItemStore) -> String {
        let fields = items.declaredFields
        if fields.isEmpty { return "" }
        return "\ndeclared fields\n"
            + fields.map { "  .\(name($0))  \($0.kind.rawValue)\n      \($0.documentation)\n" }.joined()
    }

    /// A field's name on one line.
    static func name(_ field: FieldDeclaration) -> String { VisibleText.line(field.name.shortened(to: 200)) }
}

/// The names of Cocoa's that those who come from there type first, and what they are here.
enum CocoaNames {
    private static let globals: [(names: [String], here: String)] = [
        (["NSKeyedArchiver", "NSKeyedUnarchiver"], "archiver"),
        (["NSUserDefaults", "UserDefaults"], "defaults"),
        (["NSNotificationCenter", "NotificationCenter"], "notifications"),
        (["NSFileManager", "FileManager"], "fs"),
        (["NSBundle", "Bundle"], "bundle"),
        (["UIApplication"], "app"),
        (["UIImage"], "image"),
        (["NSHomeDirectory", "NSSearchPathForDirectoriesInDomains"], "app.container"),
        (["BNRItemStore", "ItemStore"], "items"),
        (["NSLog"], "print"),
    ]

    /// Members of the objects that take the place of Cocoa's, and of the book's store.
    private static let members: [(owner: String, names: [String], here: String)] = [
        ("items", ["count"], "#items"),
        ("items", ["privateItems"], "items.allItems"),
        ("items", ["objectAtIndex", "first", "firstObject"], "items[1], counted from 1"),
        ("items", ["addObject", "addItem"], "createItem"),
        ("items", ["sharedStore", "shared"], "items itself"),
        ("app", ["sharedApplication", "shared"], "app itself"),
        ("bundle", ["mainBundle", "main"], "bundle itself"),
        ("notifications", ["defaultCenter", "default"], "notifications itself"),
        ("defaults", ["standardUserDefaults", "standard"], "defaults itself"),
        (
            "defaults",
            [
                "objectForKey", "valueForKey", "stringForKey", "integerForKey", "boolForKey", "floatForKey",
                "doubleForKey", "arrayForKey", "dictionaryForKey", "dataForKey",
            ], "get"
        ),
    ]

    /// The bytes of the longest name that is looked at: comparing a text of a megabyte is not linear.
    private static let longest = 200

    /// The hint at what a global of Cocoa's is here; nil for another name.
    static func hint(forGlobal name: String) -> String? {
        guard name.utf8.count <= longest else { return nil }
        return globals.first { $0.names.contains(name) }.map { "; here it is \($0.here)" }
    }

    /// The hint at what a member of Cocoa's is here; nil for another name.
    static func hint(forMember name: String, of owner: String) -> String? {
        guard name.utf8.count <= longest else { return nil }
        let word = String(name.prefix(while: { $0 != ":" && $0 != "(" }))
        return members.first { $0.owner == owner && $0.names.contains(word) }.map { "; here it is \($0.here)" }
    }

    /// The event that a method of a delegate, or a notification, is for.
    ///
    /// - Parameters:
    ///   - name: `applicationDidEnterBackground:`, `UIApplicationDidEnterBackgroundNotification`.
    ///   - events: the events that there are.
    /// - Returns: the event; nil for another name.
    static func event(for name: String, among events: [String]) -> String? {
        guard name.utf8.count <= longest else { return nil }
        var word = String(name.prefix(while: { $0 != ":" && $0 != "(" }))
        if word.hasSuffix("Notification") { word.removeLast("Notification".count) }
        for beginning in ["UIApplication", "UIScene", "application", "scene"] where word.hasPrefix(beginning) {
            word.removeFirst(beginning.count)
            break
        }
        guard let first = word.first else { return nil }
        word = first.lowercased() + word.dropFirst()
        return word != name && events.contains(word) ? word : nil
    }
}
