// SPDX-License-Identifier: MIT
// Parquet files by Arrow C++. Row groups become arrays of the Arrow C interface; no exception leaves a function.
#include "parquet.h"

#include <lade/version.h>

#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/crc32.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct lade_parquet_file {
    std::shared_ptr<arrow::io::RandomAccessFile> bytes;
    std::shared_ptr<parquet::FileMetaData> footer;
    std::shared_ptr<arrow::Schema> schema;
    std::vector<std::vector<int>> leaves; // of each column
};

namespace
{

int fail(const arrow::Status &status, char *reason)
{
    (void)std::snprintf(reason, LADE_PARQUET_TEXT, "%s", status.message().c_str());
    return status.IsOutOfMemory() ? LADE_NO_MEMORY : status.IsIOError() ? LADE_IO : LADE_DAMAGED;
}

// Parquet's own exceptions are damage.
template <typename Body> int guarded(char *reason, Body body)
{
    try {
        const arrow::Status status = body();
        return status.ok() ? LADE_OK : fail(status, reason);
    } catch (const std::bad_alloc &) {
        (void)std::snprintf(reason, LADE_PARQUET_TEXT, "out of memory");
        return LADE_NO_MEMORY;
    } catch (const std::exception &e) {
        (void)std::snprintf(reason, LADE_PARQUET_TEXT, "%s", e.what());
        return LADE_DAMAGED;
    }
}

void add_leaves(const parquet::arrow::SchemaField &field, std::vector<int> &to)
{
    if (field.is_leaf())
        to.push_back(field.column_index);
    for (const auto &child : field.children)
        add_leaves(child, to);
}

// A reader for one call: what it shares with others is constant.
arrow::Result<std::unique_ptr<parquet::arrow::FileReader>> reader_of(const lade_parquet_file &file)
{
    parquet::arrow::FileReaderBuilder builder;
    parquet::ArrowReaderProperties properties(false); // other threads decode other row groups

    properties.set_pre_buffer(false);
    ARROW_RETURN_NOT_OK(builder.Open(file.bytes, parquet::default_reader_properties(), file.footer));
    return builder.properties(properties)->Build();
}

int open(lade_parquet_file **to, const char *path, ArrowSchema *schema, char *reason)
{
    return guarded(reason, [&]() -> arrow::Status {
        auto file = std::make_unique<lade_parquet_file>();
        ARROW_ASSIGN_OR_RAISE(file->bytes, arrow::io::MemoryMappedFile::Open(path, arrow::io::FileMode::READ));
        ARROW_ASSIGN_OR_RAISE(auto reader, reader_of(*file));
        file->footer = reader->parquet_reader()->metadata();
        ARROW_RETURN_NOT_OK(reader->GetSchema(&file->schema));
        for (const auto &field : reader->manifest().schema_fields) {
            file->leaves.emplace_back();
            add_leaves(field, file->leaves.back());
        }
        ARROW_RETURN_NOT_OK(arrow::ExportSchema(*file->schema, schema));
        *to = file.release();
        return arrow::Status::OK();
    });
}

void close(lade_parquet_file *file)
{
    delete file;
}

uint64_t groups(const lade_parquet_file *file)
{
    return static_cast<uint64_t>(file->footer->num_row_groups());
}

uint64_t rows(const lade_parquet_file *file, uint64_t group)
{
    return static_cast<uint64_t>(file->footer->RowGroup(static_cast<int>(group))->num_rows());
}

uint64_t size(const lade_parquet_file *file, uint64_t group, uint32_t column)
{
    const auto about = file->footer->RowGroup(static_cast<int>(group));
    int64_t bytes = 0;

    for (const int leaf : file->leaves[column])
        bytes += about->ColumnChunk(leaf)->total_uncompressed_size();
    return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

uint32_t identity(const lade_parquet_file *file)
{
    const std::string bytes = file->footer->SerializeToString();

    return static_cast<uint32_t>(arrow::internal::crc32(0, bytes.data(), bytes.size()));
}

int read(const lade_parquet_file *file, uint64_t group, const uint32_t *columns, unsigned count, ArrowArray *array,
         char *reason)
{
    return guarded(reason, [&]() -> arrow::Status {
        std::vector<int> leaves;
        for (unsigned c = 0; c < count; c++)
            leaves.insert(leaves.end(), file->leaves[columns[c]].begin(), file->leaves[columns[c]].end());
        ARROW_ASSIGN_OR_RAISE(auto reader, reader_of(*file));
        ARROW_ASSIGN_OR_RAISE(auto table, reader->ReadRowGroup(static_cast<int>(group), leaves));
        for (unsigned c = 0; c < count; c++)
            if (table->num_columns() != static_cast<int>(count) ||
                !table->schema()
                     ->field(static_cast<int>(c))
                     ->Equals(*file->schema->field(static_cast<int>(columns[c]))))
                return arrow::Status::Invalid("the columns of row group ", group, " are not those of the file");
        ARROW_ASSIGN_OR_RAISE(auto batch, table->CombineChunksToBatch());
        return arrow::ExportRecordBatch(*batch, array);
    });
}

} // namespace

const struct lade_parquet_object lade_parquet_object = {
    LADE_VERSION_NUMBER, sizeof(struct lade_parquet_object), open, close, groups, rows, size, identity, read};
