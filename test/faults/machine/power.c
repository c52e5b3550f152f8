/*
 * Loaded into a receiver with LD_PRELOAD: keeps, beside the files of its database, what a power failure would leave of them.
 * What is written goes into the copy when its flush has succeeded, and never when it has failed: Linux calls such pages clean
 * (https://wiki.postgresql.org/wiki/Fsync_Errors). A new file has its name on the disk once its folder was flushed: beside
 * its copy there is a file "<name>.named" then. That a file was deleted is taken to be on the disk at once.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { FILES = 8, RANGES = 8192 };
typedef struct { off_t from, to; } Range;
typedef struct {
  char path[1024];
  Range dirty[RANGES];
  int count;
  /* The shortest it has been since its last flush; -1 where it was not cut. */
  off_t cut;
} Kept;

static Kept kept[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* One flush at a time: a second one is for what the first one is about, too, and must not be done before it. */
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* The entry of a database's file; none for every other file. */
static Kept *keptOf(int file) {
  static const char *folder;
  if (!folder && !(folder = getenv("ONCEHOOK_POWER"))) return 0;
  char link[64], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (!strstr(path, ".db") || strstr(path, "-shm") || strstr(path, "(deleted)")) return 0;
  for (Kept *one = kept; one < kept + FILES; one++) {
    if (!*one->path) { strcpy(one->path, path); one->cut = -1; }
    if (!strcmp(one->path, path)) return one;
  }
  abort();
}

static void wrote(int file, off_t from, ssize_t size) {
  if (size <= 0) return;
  pthread_mutex_lock(&lock);
  Kept *one = keptOf(file);
  if (one) {
    off_t to = from + size;
    Range *last = one->count ? &one->dirty[one->count - 1] : 0;
    if (last && from <= last->to && to >= last->from) {
      if (from < last->from) last->from = from;
      if (to > last->to) last->to = to;
    } else if (one->count < RANGES) {
      one->dirty[one->count++] = (Range){ from, to };
    } else {
      abort();
    }
  }
  pthread_mutex_unlock(&lock);
}

static void cut(int file, off_t size) {
  pthread_mutex_lock(&lock);
  Kept *one = keptOf(file);
  if (one && (one->cut < 0 || size < one->cut)) one->cut = size;
  pthread_mutex_unlock(&lock);
}

/* What a flush that begins now is for. */
typedef struct { char path[1024]; off_t cut; int count; Range *ranges; char *bytes; } Taken;

static Taken *take(int file) {
  pthread_mutex_lock(&lock);
  Kept *one = keptOf(file);
  Taken *taken = 0;
  if (one) {
    off_t total = 0;
    for (int at = 0; at < one->count; at++) total += one->dirty[at].to - one->dirty[at].from;
    taken = calloc(1, sizeof *taken);
    taken->ranges = malloc(sizeof(Range) * (one->count + 1));
    taken->bytes = malloc(total + 1);
    taken->cut = one->cut;
    const char *name = strrchr(one->path, '/');
    snprintf(taken->path, sizeof taken->path, "%s/%s", getenv("ONCEHOOK_POWER"), name + 1);
    /* The descriptor may be for flushing only. */
    int from = open(one->path, O_RDONLY);
    char *bytes = taken->bytes;
    for (int at = 0; from >= 0 && at < one->count; at++) {
      Range range = one->dirty[at];
      ssize_t size = pread(from, bytes, range.to - range.from, range.from);
      /* What was cut off since is not there any more. */
      if (size <= 0) continue;
      taken->ranges[taken->count++] = (Range){ range.from, range.from + size };
      bytes += size;
    }
    if (from >= 0) close(from);
    one->count = 0;
    one->cut = -1;
  }
  pthread_mutex_unlock(&lock);
  return taken;
}

static void keep(Taken *taken, int succeeded) {
  static ssize_t (*put)(int, const void *, size_t, off_t);
  static int (*shorten)(int, off_t);
  if (!taken) return;
  if (!put) put = (__typeof__(put))dlsym(RTLD_NEXT, "pwrite");
  if (!shorten) shorten = (__typeof__(shorten))dlsym(RTLD_NEXT, "ftruncate");
  int file = succeeded ? open(taken->path, O_WRONLY | O_CREAT, 0600) : -1;
  if (succeeded && file < 0) abort();
  if (file >= 0) {
    struct stat now;
    if (taken->cut >= 0 && !fstat(file, &now) && now.st_size > taken->cut && shorten(file, taken->cut)) abort();
    const char *bytes = taken->bytes;
    for (int at = 0; at < taken->count; at++) {
      ssize_t size = taken->ranges[at].to - taken->ranges[at].from;
      if (put(file, bytes, size, taken->ranges[at].from) != size) abort();
      bytes += size;
    }
    close(file);
  }
  free(taken->ranges);
  free(taken->bytes);
  free(taken);
}

static int isDatabaseFile(const char *name) {
  return strstr(name, ".db") && !strstr(name, "-shm");
}

static void markerOf(const char *name, char *marker, size_t size) {
  snprintf(marker, size, "%s/%s.named", getenv("ONCEHOOK_POWER"), name);
}

/* After a flush of a folder: the names of the files that were in it when the flush began. */
static void named(int succeeded, char names[][256], int count) {
  for (int at = 0; succeeded && at < count; at++) {
    char marker[1400];
    markerOf(names[at], marker, sizeof marker);
    int file = open(marker, O_WRONLY | O_CREAT, 0600);
    if (file < 0) abort();
    close(file);
  }
}

static int flushFolder(int folder, int (*real)(int)) {
  char names[FILES][256], link[64];
  int count = 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  DIR *listed = opendir(link);
  for (struct dirent *entry; listed && count < FILES && (entry = readdir(listed));)
    if (isDatabaseFile(entry->d_name)) strcpy(names[count++], entry->d_name);
  if (listed) closedir(listed);
  int failed = real(folder);
  int error = errno;
  named(!failed, names, count);
  errno = error;
  return failed;
}

static int flush(int file, int (*real)(int)) {
  struct stat what;
  if (getenv("ONCEHOOK_POWER") && !fstat(file, &what) && S_ISDIR(what.st_mode)) return flushFolder(file, real);
  pthread_mutex_lock(&flushing);
  Taken *taken = take(file);
  int failed = real(file);
  int error = errno;
  keep(taken, !failed);
  pthread_mutex_unlock(&flushing);
  errno = error;
  return failed;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  REAL(pwrite);
  ssize_t done = real(file, data, size, at);
  wrote(file, at, done);
  return done;
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
  REAL(pwrite64);
  ssize_t done = real(file, data, size, at);
  wrote(file, at, done);
  return done;
}
ssize_t write(int file, const void *data, size_t size) {
  REAL(write);
  ssize_t done = real(file, data, size);
  if (done > 0 && getenv("ONCEHOOK_POWER")) {
    off_t end = lseek(file, 0, SEEK_CUR);
    if (end >= done) wrote(file, end - done, done);
  }
  return done;
}
int fsync(int file) {
  REAL(fsync);
  return flush(file, real);
}
int fdatasync(int file) {
  REAL(fdatasync);
  return flush(file, real);
}
int unlink(const char *path) {
  REAL(unlink);
  int failed = real(path);
  const char *name = strrchr(path, '/');
  if (!failed && getenv("ONCEHOOK_POWER") && isDatabaseFile(name ? name + 1 : path)) {
    int error = errno;
    char marker[1400];
    markerOf(name ? name + 1 : path, marker, sizeof marker);
    real(marker);
    errno = error;
  }
  return failed;
}
int ftruncate(int file, off_t size) {
  REAL(ftruncate);
  int failed = real(file, size);
  if (!failed) cut(file, size);
  return failed;
}
int ftruncate64(int file, off64_t size) {
  REAL(ftruncate64);
  int failed = real(file, size);
  if (!failed) cut(file, size);
  return failed;
}
