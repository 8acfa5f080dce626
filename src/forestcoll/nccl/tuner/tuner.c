/* A tuner plugin for NCCL 2.27 to 2.32: it applies the rules of a CSV file, and leaves everything else to NCCL.
 *
 * Build:  gcc -O2 -shared -fPIC -o libnccl-tuner-forestcoll.so tuner.c
 * Use:    NCCL_TUNER_PLUGIN=/path/libnccl-tuner-forestcoll.so NCCL_TUNER_CONFIG_FILE=/path/tuner.csv
 *
 * A line of the file is a rule: collective,least,most,algorithm,protocol,channels,hosts,ranks
 *   collective  broadcast, reduce, allgather, reducescatter or allreduce
 *   least,most  the total bytes, as nccl-tests prints them; both are included
 *   algorithm   tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree or pat
 *   protocol    ll, ll128 or simple
 *   channels    1 to 64; 0 or -1 for NCCL's own number
 *   hosts,ranks the communicators that the rule is for; -1 for any
 * Capitals do not matter. Empty lines and lines that begin with # are skipped.
 *
 * A line that is not understood is reported as a warning and has no effect. The first rule that matches and that NCCL
 * has not switched off is applied. Where there is none, the choice and the number of channels are NCCL's own. A missing
 * file or memory is no error: NCCL then runs without rules.
 */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SUCCESS = 0, WARN = 2, INFO = 3, TUNING = 64 };
enum { FIELDS = 8, LONGEST_LINE = 255, MOST_RULES = 4096, MOST_CHANNELS = 64 };

typedef void (*Log)(int level, unsigned long flags, const char *file, int line, const char *format, ...);

static const char *const COLLECTIVES[] = {"broadcast", "reduce", "allgather", "reducescatter", "allreduce", NULL};
static const char *const ALGORITHMS[] = {
  "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat", NULL};
static const char *const PROTOCOLS[] = {"ll", "ll128", "simple", NULL};

typedef struct {
  int collective, algorithm, protocol, channels;
  uint64_t least, most;
} Rule;

typedef struct {
  int count;
  Rule rules[MOST_RULES];
} Tuner;

static int place_of(const char *word, const char *const *words) {
  for (int place = 0; words[place]; place++)
    if (strcasecmp(word, words[place]) == 0) return place;
  return -1;
}

/* Reads a whole number; returns 0 if the text is none or is out of range. */
static int read_number(const char *text, long long least, long long most, long long *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *value >= least && *value <= most;
}

static int read_bytes(const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

/* Splits a line at its commas, without blanks around the fields; returns the number of fields. */
static int split(char *line, char **fields) {
  int count = 0;
  for (char *next = line; next; count++) {
    char *field = strsep(&next, ",");
    field += strspn(field, " \t\r\n");
    for (char *end = field + strlen(field); end > field && strchr(" \t\r\n", end[-1]); *--end = '\0') {}
    if (count < FIELDS) fields[count] = field;
  }
  return count;
}

/* Returns what is wrong with a line, or NULL. `applies` says whether the rule is for this communicator. */
static const char *read_rule(char *line, size_t hosts, size_t ranks, Rule *rule, int *applies) {
  char *field[FIELDS];
  long long channels, of_hosts, of_ranks;
  if (split(line, field) != FIELDS) return "expected 8 fields";
  if ((rule->collective = place_of(field[0], COLLECTIVES)) < 0) return "unknown collective";
  if (!read_bytes(field[1], &rule->least) || !read_bytes(field[2], &rule->most)) return "bytes are no whole number";
  if (rule->least > rule->most) return "the least bytes are more than the most";
  if ((rule->algorithm = place_of(field[3], ALGORITHMS)) < 0) return "unknown algorithm";
  if ((rule->protocol = place_of(field[4], PROTOCOLS)) < 0) return "unknown protocol";
  if (!read_number(field[5], -1, MOST_CHANNELS, &channels)) return "channels must be -1 to 64";
  if (!read_number(field[6], -1, INT32_MAX, &of_hosts) || of_hosts == 0) return "hosts must be -1, or 1 or more";
  if (!read_number(field[7], -1, INT32_MAX, &of_ranks) || of_ranks == 0) return "ranks must be -1, or 1 or more";
  rule->channels = channels < 1 ? 0 : (int)channels;
  *applies = (of_hosts < 0 || (size_t)of_hosts == hosts) && (of_ranks < 0 || (size_t)of_ranks == ranks);
  return NULL;
}

static void read_rules(FILE *file, const char *path, size_t hosts, size_t ranks, Log log, Tuner *tuner) {
  char line[LONGEST_LINE + 2];
  for (int number = 1; tuner->count < MOST_RULES && fgets(line, sizeof line, file); number++) {
    const char *fault = NULL;
    int applies = 0;
    if (!strchr(line, '\n') && !feof(file)) {
      fault = "the line is longer than 255 characters";
      for (int c = fgetc(file); c != '\n' && c != EOF; c = fgetc(file)) {}
    } else if (line[0] != '#' && line[strspn(line, " \t\r\n")] != '\0') {
      fault = read_rule(line, hosts, ranks, &tuner->rules[tuner->count], &applies);
    }
    if (fault && log) log(WARN, TUNING, __FILE__, __LINE__, "forestcoll: %s:%d: %s; no rule", path, number, fault);
    if (!fault && applies) tuner->count++;
  }
}

static int init(void **context, size_t ranks, size_t hosts, Log log) {
  const char *path = getenv("NCCL_TUNER_CONFIG_FILE");
  FILE *file = path ? fopen(path, "r") : NULL;
  Tuner *tuner = file ? calloc(1, sizeof *tuner) : NULL;
  *context = tuner;
  if (tuner) read_rules(file, path, hosts, ranks, log, tuner);
  if (file) fclose(file);
  if (log && !tuner)
    log(WARN, TUNING, __FILE__, __LINE__, "forestcoll: NCCL_TUNER_CONFIG_FILE (%s) cannot be read; no rules",
        path ? path : "not set");
  if (log && tuner)
    log(INFO, TUNING, __FILE__, __LINE__, "forestcoll: %d rules of %s for %zu hosts and %zu ranks", tuner->count, path,
        hosts, ranks);
  return SUCCESS;
}

static int init_v4(size_t ranks, size_t hosts, Log log, void **context) { return init(context, ranks, hosts, log); }

static int init_v5(void **context, uint64_t comm, size_t ranks, size_t hosts, Log log, void *domains, void *constants) {
  (void)comm, (void)domains, (void)constants;
  return init(context, ranks, hosts, log);
}

/* Sets the cost of the entry of the first rule that matches to 0. NCCL 2.32 asks twice on one host, first with
 * `operations` 0, only to compare with other kernels; that call is ignored. */
static int get_coll_info(void *context, int collective, size_t bytes, int operations, float **costs, int algorithms,
                         int protocols, int registered, int *channels) {
  const Tuner *tuner = context;
  float *table = (float *)costs;
  (void)registered;
  if (!tuner || !table || operations < 1) return SUCCESS;
  for (const Rule *rule = tuner->rules; rule < tuner->rules + tuner->count; rule++) {
    if (rule->collective != collective || bytes < rule->least || bytes > rule->most) continue;
    if (rule->algorithm >= algorithms || rule->protocol >= protocols) continue;
    float *cost = table + rule->algorithm * protocols + rule->protocol;
    if (*cost < 0) continue; /* NCCL has switched it off */
    *cost = 0;
    if (channels && rule->channels) *channels = rule->channels;
    return SUCCESS;
  }
  return SUCCESS;
}

static int destroy(void *context) {
  free(context);
  return SUCCESS;
}

typedef int GetCollInfo(void *, int, size_t, int, float **, int, int, int, int *);

/* NCCL 2.27 */
const struct {
  const char *name;
  int (*init)(size_t, size_t, Log, void **);
  GetCollInfo *get_coll_info;
  int (*destroy)(void *);
} ncclTunerPlugin_v4 = {"forestcoll", init_v4, get_coll_info, destroy};

/* NCCL 2.28 and 2.29; later versions have one more function, which may be missing */
typedef struct {
  const char *name;
  int (*init)(void **, uint64_t, size_t, size_t, Log, void *, void *);
  GetCollInfo *get_coll_info;
  int (*destroy)(void *);
  int (*get_chunk_size)(void *, int, size_t, int, int, int, size_t *);
} Plugin;

const Plugin ncclTunerPlugin_v5 = {"forestcoll", init_v5, get_coll_info, destroy, NULL};
const Plugin ncclTunerPlugin_v6 = {"forestcoll", init_v5, get_coll_info, destroy, NULL};
