import Application
import CPlatform
import Files
import Glibc
import Items
import Lua
import PropertyList

/// What a host has to tell of itself, for `cubby status`: the JSON object that docs/automation.md describes.
///
/// It is gathered on the host's thread between its other work, without running code of scripts. Lists and texts have
/// limits, so that an answer stays small; how many entries a list lacks is in `leftOut`.
struct HostStatus {
    /// Most entries of a list, and most bytes of a text.
    static let entryLimit = 200
    private static let textLimit = 500

    private(set) var fields: PropertyListFields = [:]
    private var leftOut: PropertyListFields = [:]

    init(_ host: ScriptHost) {
        let (runtime, items) = (host.runtime, host.items)
        let now = LifeCycleEvent.now()
        set("version", CubbyVersion.string)
        set("run", runtime.log.run)
        set("application", host.options.applicationName)
        set("state", host.applicationState.rawValue)
        fields["items"] = .integer(Int64(items.count))
        fields["hasChanges"] = .boolean(items.hasChanges)
        fields["readOnly"] = .boolean(items.isReadOnly)
        if let save = host.lifeCycle.saver.lastSave { fields["lastSave"] = .fields(save.fields) }
        if let commit = items.lastCommit {
            fields["lastCommit"] = .fields([
                "time": .string(Self.text(at: now - MonotonicTime.now().seconds(since: commit)))
            ])
        }
        var memory: PropertyListFields = ["scripts": .integer(Int64(host.state.memory.used))]
        if let limit = host.state.memory.limit { memory["limit"] = .integer(Int64(limit)) }
        fields["memory"] = .fields(memory)
        fields["failures"] = .integer(Int64(host.handlerFailureCount))
        // Those of a task's function that waits: of timers, handlers, attached prompts.
        fields["waiting"] = .integer(Int64(runtime.scheduler.waiting.count))

        list("hooks", host.hooks.all) { hook in
            let statistics = hook.statistics
            var entry: PropertyListFields = [
                "event": .string(Self.short(hook.event)), "title": .string(Self.short(hook.name)),
                "priority": .integer(hook.options.priority), "paused": .boolean(hook.isPaused),
                "calls": .integer(Int64(statistics.calls)), "failures": .integer(Int64(statistics.failures)),
                "seconds": .real(statistics.seconds), "longest": .real(statistics.longest),
            ]
            if let group = hook.options.group { entry["group"] = .string(Self.short(group)) }
            if let error = statistics.lastError { entry["lastError"] = .string(Self.short(error)) }
            return entry
        }
        let timers = runtime.loop.ownedTimers.compactMap { owner, seconds in
            (owner as? ScriptTimer).map { (timer: $0, seconds: seconds) }
        }
        list("timers", timers.sorted { $0.seconds < $1.seconds }) { entry in
            [
                "title": .string(Self.short(entry.timer.text)), "next": .string(Self.text(at: now + entry.seconds)),
                "inSeconds": .real(entry.seconds), "paused": .boolean(entry.timer.isPaused),
                "running": .boolean(entry.timer.isRunning), "calls": .integer(Int64(entry.timer.calls)),
                "failures": .integer(Int64(entry.timer.failedCalls)),
            ]
        }
        list("backgroundTasks", host.lifeCycle.backgroundTasks.pending) { task in
            ["name": .string(Self.short(task.name)), "seconds": .real(task.seconds)]
        }
        list("errors", host.hooks.failures) { failure in
            [
                "title": .string(Self.short(failure.title)), "event": .string(Self.short(failure.event)),
                "message": .string(Self.short(failure.error.message)), "time": .string(Self.text(at: failure.time)),
            ]
        }
        for part in host.partsOfStatus() { list(part.name, part.entries()) { $0 } }
        if leftOut.count > 0 { fields["leftOut"] = .fields(leftOut) }
    }

    private mutating func set(_ name: String, _ text: String) { fields[name] = .string(Self.short(text)) }

    private mutating func list<Entry>(
        _ name: String, _ entries: [Entry], _ describe: (Entry) -> PropertyListFields
    ) {
        fields[name] = .array(entries.prefix(Self.entryLimit).map { .fields(describe($0)) })
        if entries.count > Self.entryLimit {
            leftOut[name] = .integer(Int64(entries.count - Self.entryLimit))
        }
    }

    private static func short(_ text: String) -> String { text.shortened(to: textLimit) }

    /// A time as other programs read it: `2026-11-21T04:13:00.000Z`.
    static func text(at seconds: Double) -> String {
        let limited = min(max(seconds, 0), 253_402_300_799)
        let whole = limited.rounded(.down)
        return LocalTime.isoText(timespec(tv_sec: time_t(whole), tv_nsec: Int((limited - whole) * 1e9)))
    }
}

/// The last save of a run.
struct SaveRecord {
    let time: Double
    let items: Int
    let seconds: Double
    /// The reason, if it failed.
    let failure: String?

    var fields: PropertyListFields {
        var fields: PropertyListFields = [
            "time": .string(HostStatus.text(at: time)), "items": .integer(Int64(items)), "seconds": .real(seconds),
            "ok": .boolean(failure == nil),
        ]
        if let failure { fields["error"] = .string(failure.shortened(to: 500)) }
        return fields
    }
}

/// A list of a module for `cubby status`.
struct StatusPart {
    let name: String
    let entries: () -> [PropertyListFields]
}

extension ScriptHost {
    /// What `cubby status` is told, as JSON. Runs no code of scripts.
    package var statusJSON: [UInt8] {
        (try? PropertyListValue.fields(HostStatus(self).fields).json()) ?? Array("{}".utf8)
    }
}
