import Application
import Logging
import Lua
import PropertyList
package import Scripting

/// `notifications`: the notification center of scripts, the host and Cocoa's names.
package enum NotificationsModule: ScriptModule {
    package static let name = "notifications"

    /// A script's original values: tables and objects keep their identity for observers of scripts.
    private final class Posted {
        let info: LuaValue
        init(_ info: LuaValue) { self.info = info }
    }

    /// A notification as a handler's argument.
    private final class PostedNotification: LuaObject {
        let name: String
        let info: LuaValue
        init(_ name: String, _ info: LuaValue) {
            self.name = name
            self.info = info
        }

        static var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(PostedNotification.self, "Notification", doc: "The argument of an observer.") {
                LuaProperty("name", \.name, doc: "The notification's name.")
                LuaProperty("info", \.info, doc: "The values given by the poster; nil without any.")
                LuaProperty("userInfo", \.info, doc: "The same under Cocoa's name.")
                LuaOperator(.text) { (notification: PostedNotification) in "Notification(\(notification.name))" }
            }
        }
    }

    package static func declare(in host: ScriptHost) -> [Global] {
        host.state.addClass(PostedNotification.self)
        let observer = LuaClass<NotificationToken>(
            NotificationToken.luaName,
            doc: "An observer's registration. The host keeps it: dropping this object changes nothing.",
            in: host.state)
        observer.property("name", doc: "The observed name; nil for all notifications.", get: { $0.name })
        observer.method(
            "remove", doc: "Removes the observer.",
            example: "local o = notifications:addObserver(\"sale\", print) o:remove() notifications:post(\"sale\")"
        ) { [unowned host] token in host.notifications.removeObserver(token) }
        observer.metamethod("__tostring") { token, call in
            call.returns("Observer(\(token.name ?? "everything")\(token.isRemoved ? ", removed" : ""))")
        }

        let cls = LuaClass<ApplicationNotificationCenter>(
            "notifications", doc: "Messages to the observers of a name, called before post returns.", in: host.state)
        declareMethods(on: cls, host)
        cls.metamethod("__tostring") { center, call in
            call.returns("notifications (\(center.observerCount) observers)")
        }
        cls.declareGlobalObject()
        return [("notifications", cls.value(host.notifications))]
    }

    private static func declareMethods(on cls: LuaClass<ApplicationNotificationCenter>, _ host: ScriptHost) {
        cls.method(
            "post", ["name": "the notification's name", "info": "the value of note.info"],
            doc: "Posts a notification; returns the number of observers called.",
            example:
                "notifications:addObserver(\"sale\", function(note) print(note.info.price) end) notifications:post(\"sale\", { price = 5 })"
        ) { [unowned host] (center, name: String, info: LuaTable?) in
            let info = info.map(LuaValue.table) ?? .nil
            var plain: PropertyListFields = [:]
            do throws(ValueBridge.BridgeError) {
                if !info.isNil, let values = try host.values.propertyList(info, path: "info").fields {
                    plain = values
                }
            } catch  where error.isObject {
                throw LuaMismatch(error.message, argument: "info")
            } catch {
                // Functions, for example, have no property-list form: only observers of scripts receive them.
                plain = [:]
            }
            return center.post(name, object: Posted(info), userInfo: plain)
        }
        cls.method(
            "addObserver",
            [
                "name": "the name to observe; nil for all notifications",
                "handler": .callback("(note: Notification)", "the function to call"),
            ],
            doc: "Calls a function with each notification of a name, in the order of registration.",
            example:
                "notifications:addObserver(\"UIApplicationDidEnterBackgroundNotification\", function(note) print(note.name) end) app:pressHome()"
        ) { [unowned host] (center, name: String?, handler: LuaFunction) in
            let place = handler.place
            if let name, let hint = NotificationNames.hint(for: name) { host.logger.warning("\(hint)") }
            let token = center.addObserver(name) { [unowned host] notification in
                let posted = notification.object as? Posted
                let info =
                    posted?.info
                    ?? (notification.userInfo.isEmpty
                        ? .nil : (try? host.values.lua(.fields(notification.userInfo))) ?? .nil)
                host.hooks.callObserver(
                    handler, [PostedNotification(notification.name, info).luaValue(in: host.state)],
                    title: "\(notification.name) (\(place.source):\(place.line))", event: notification.name)
            }
            host.initScript.recordRegistration { center.removeObserver(token) }
            return token
        }
        cls.method(
            "removeObserver", ["observer": "the result of addObserver"], doc: "Removes an observer.",
            example: "local o = notifications:addObserver(\"sale\", print) notifications:removeObserver(o)"
        ) { (center, observer: NotificationToken) in center.removeObserver(observer) }
    }
}

/// The names of Cocoa's that the host posts.
private enum NotificationNames {
    private static let known =
        LifeCycleCallback.allCases.compactMap(\.notificationName) + [ApplicationNotification.Name.defaultsDidChange]

    /// What to observe instead of a name that nobody posts, and that is nearly, or in Swift's form, one of these; nil for
    /// a name of a script's own.
    static func hint(for name: String) -> String? {
        guard !known.contains(name) else { return nil }
        var word = name
        // UIApplication.didEnterBackgroundNotification, didEnterBackground
        for beginning in ["UIApplication.", "UIScene.", "NSNotification.Name.", "."] where word.hasPrefix(beginning) {
            word.removeFirst(beginning.count)
            break
        }
        if word.hasPrefix("did") || word.hasPrefix("will"), let first = word.first {
            word = "UIApplication" + first.uppercased() + word.dropFirst()
        }
        if word.hasPrefix("UIScene") { word = "UIApplication" + word.dropFirst("UIScene".count) }
        // One letter off in the ending would be far off with another ending behind it.
        let direct = NearestNames.hint(for: word, among: known)
        if !direct.isEmpty { return "nobody posts '\(name)'\(direct)" }
        if word.hasPrefix("UIApplication") || word.hasPrefix("NS"), !word.hasSuffix("Notification") {
            word += "Notification"
        }
        if known.contains(word) { return "nobody posts '\(name)'; did you mean '\(word)'?" }
        let hint = NearestNames.hint(for: word, among: known)
        if !hint.isEmpty { return "nobody posts '\(name)'\(hint)" }
        guard word.hasPrefix("UI") || word.hasPrefix("NS"), word.hasSuffix("Notification") else { return nil }
        return "nobody posts '\(name)' unless a script does: it is of a part of Cocoa that is not here"
    }
}
