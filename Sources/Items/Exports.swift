// A store with the file that keeps it: what a program needs that wants items.
@_exported public import ColumnEngine
@_exported public import ItemArchive
