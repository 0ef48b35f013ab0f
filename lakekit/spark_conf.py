"""The settings of every Spark session of Lakekit, on a laptop and in Glue. Pure."""

CATALOG = "lake"
LOCAL_DATABASE = "local"
# The first compiler alone has a small cache, and when it is full all goes on interpreted. What a
# plan leaves behind is dropped soon if the young have room; else it is copied and copied.
LIGHT_JAVA = " -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseSerialGC -Xmn512m"
# The collector that Java chooses keeps threads of its own, which take a share of few cores.
STEADY_JAVA = " -XX:+UseParallelGC"
# Iceberg asks its own threads every 10 ms whether they have planned a scan: of manifests on a disk
# that takes longer than to read them here.
LOCAL_SCANS = " -Diceberg.scan.plan-in-worker-pool=false"
# Hadoop's own starts a `chmod` for each file and folder that it makes: a twelfth of a small merge.
LOCAL_FILES = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
}
SETTINGS = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
    # A warm session must see what another writer has committed.
    f"spark.sql.catalog.{CATALOG}.cache-enabled": "false",
    "spark.sql.defaultCatalog": CATALOG,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # A `${…}` in a key, a description or a query is text, not a variable to look up.
    "spark.sql.variable.substitute": "false",
    "spark.sql.adaptive.enabled": "true",
    # Java compiles no method that is longer; a wide contract's would be interpreted.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # A merge has more compiled parts than Spark keeps by default: the next one finds them again.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Staged change sets keep every time of the years 1 to 9999 as it is.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}
