/*
 * Loaded into a receiver with LD_PRELOAD: makes the calls fail with which files of a database are written and flushed.
 * What fails is read from a page that the test maps too, so that it can be changed while the receiver runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* One cell for each kind of call: the errno it fails with, or 0; the cell after it counts how often it did. */
enum { WRITE, SYNC, TRUNCATE, CELLS };
static volatile int32_t *cells;

static void load(void) {
  const char *path = getenv("ONCEHOOK_DISK_FAULTS");
  int file = path ? open(path, O_RDWR) : -1;
  void *page = file < 0 ? MAP_FAILED : mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  static int32_t none[2 * CELLS];
  cells = page == MAP_FAILED ? none : page;
}
__attribute__((constructor)) static void loaded(void) { if (!cells) load(); }

/* Only the database's own files: its log of callbacks on standard output, say, is none of this. */
static int is_database(int file) {
  char link[64], path[4096];
  const char prefix[] = "/proc/self/fd/";
  char digits[16];
  int at = sizeof digits, left = file;
  do digits[--at] = (char)('0' + left % 10); while ((left /= 10) > 0);
  memcpy(link, prefix, sizeof prefix - 1);
  memcpy(link + sizeof prefix - 1, digits + at, sizeof digits - at);
  link[sizeof prefix - 1 + sizeof digits - at] = 0;
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, ".db") != 0 && strstr(path, "-shm") == 0;
}

static int fails(int kind, int file) {
  if (!cells) load();
  int error = cells[2 * kind];
  if (error == 0 || !is_database(file)) return 0;
  __sync_fetch_and_add(&cells[2 * kind + 1], 1);
  errno = error;
  return 1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
  REAL(pwrite);
  return fails(WRITE, file) ? -1 : real(file, data, size, at);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
  REAL(pwrite64);
  return fails(WRITE, file) ? -1 : real(file, data, size, at);
}
ssize_t write(int file, const void *data, size_t size) {
  REAL(write);
  return fails(WRITE, file) ? -1 : real(file, data, size);
}
int fsync(int file) {
  REAL(fsync);
  return fails(SYNC, file) ? -1 : real(file);
}
int fdatasync(int file) {
  REAL(fdatasync);
  return fails(SYNC, file) ? -1 : real(file);
}
int ftruncate(int file, off_t size) {
  REAL(ftruncate);
  return fails(TRUNCATE, file) ? -1 : real(file, size);
}
int ftruncate64(int file, off64_t size) {
  REAL(ftruncate64);
  return fails(TRUNCATE, file) ? -1 : real(file, size);
}
