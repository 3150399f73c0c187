import ApplicationBindings
import ArchiveBindings
import FileBindings
import ImageBindings
import ItemBindings
import NetworkBindings
public import Scripting
import TestBindings

extension ScriptHost {
    /// What scripts see beside Lua's own library. The order is that of the declarations on a class of several modules.
    package static var standardModules: [any ScriptModule.Type] {
        [
            AppModule.self, DefaultsModule.self, NotificationsModule.self, BundleModule.self, ItemModule.self,
            ImageModule.self, ItemStatisticsModule.self, SQLModule.self, FileSystemModule.self, CSVModule.self,
            JSONModule.self,
            SQLiteModule.self, PlistModule.self, ArchiverModule.self, TimerModule.self, LogModule.self,
            ProgressModule.self, HTTPModule.self,
        ]
    }

    /// What scripts of `cubby test` see beside these.
    package static var testModules: [any ScriptModule.Type] { [TestModule.self, SceneModule.self] }

    /// Opens the container and the stores, and creates the state with all modules. Nothing is launched yet.
    ///
    /// - Throws: `FolderLockError` when another host, or another process, has the container, `FileError`, `StoreError`,
    ///   with `newerFormat` when a newer program wrote the container, `LuaError`.
    public convenience init(_ options: ScriptHostOptions) throws {
        try self.init(options, modules: Self.standardModules)
    }
}

extension APIReference {
    /// The reference of a plain host, opened in a temporary folder.
    ///
    /// - Throws: `FileError` when the folder can't be created, and the errors of opening a host.
    package static func standard() throws -> APIReference {
        try plain(ScriptHost.standardModules + ScriptHost.testModules)
    }
}
