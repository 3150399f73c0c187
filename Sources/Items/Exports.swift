// Programs that use items also need the store and its persistence file.
@_exported public import ColumnEngine
@_exported public import ItemArchive
