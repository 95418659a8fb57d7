// From a launch to cores: blocks are handed out to host threads one by one, the caller's among them; each thread takes an idle core,
// runs blocks on it, and adds its counters up at the end. Blocks do not see each other, so times are those of `block_dim` cores whatever
// the number of threads, and of more blocks than cores, in waves.
//
// The one thing that is not passed in is the core of the running thread: a kernel is plain C and its statements carry no core, so
// `ascir_self` reads a thread-local pointer.
#include "launch.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_KEPT_FAULTS = 4096, MAX_KEPT_EVENTS = 1 << 20 };

static _Thread_local ascir_core *current;

ascir_core *ascir_self(void) { return current; }
const ascir_arg *ascir_args(ascir_core *core) { return core->seen; }
int64_t ascir_block_idx(ascir_core *core) { return core->block_idx; }
int64_t ascir_block_num(ascir_core *core) { return core->block_num; }

// ---- one launch ---------------------------------------------------------------------------------------------------------------------------

typedef struct job job;

struct job {
  const ascir_request *request;
  ascir_result *result;
  const ascir_arg *seen;
  ascir_gm_log gm_log;
  ascir_block_times *times;  // a block each
  double shared_rate;  // bytes per cycle, of all cores together
  int64_t next_block;
  int32_t helpers_wanted, running;
  int64_t event_capacity;
  job *next;
};

struct ascir_pool {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  job *jobs;        // with blocks to hand out
  ascir_core *idle;
  int32_t helpers, started;
};

static int64_t physical_cores(const ascir_request *request) {
  int64_t cores = request->target->vector_cores;
  return request->block_dim < cores ? request->block_dim : cores;
}

static int64_t working_set(const ascir_request *request) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < request->arg_count; k++) bytes += request->args[k].p ? request->args[k].bytes : 0;
  return bytes;
}

// hw §6: L2 or HBM, by what the arguments need together.
static void choose_memory(job *j) {
  const ascir_target *target = j->request->target;
  j->result->in_l2 = working_set(j->request) <= target->l2_bytes;
  double bandwidth = j->result->in_l2 ? target->l2_bandwidth : target->hbm_bandwidth;
  j->shared_rate = bandwidth / (target->clock_ghz * 1e9);
}

// hw §6: the cores at work share one bandwidth. Blocks run in waves of one a core; the last wave may leave cores idle and their bandwidth
// to the others.
static void open_port(ascir_core *core, const job *j, int64_t block) {
  int64_t cores = physical_cores(j->request), left = j->request->block_dim - block / cores * cores;
  core->port.rate = j->shared_rate;
  core->port.others = (double)((left < cores ? left : cores) - 1);
  core->port.lockstep = core->target->lockstep;
  core->port.used = core->port.forgotten = 0.0;
  core->port.spans = 0;
}

// ---- cores --------------------------------------------------------------------------------------------------------------------------------

static bool open_pipes(ascir_core *core) {
  bool open = true;
  for (int p = 0; p < ASCIR_PIPES; p++) {
    core->pipe[p].queue = malloc(MAX_QUEUE * sizeof *core->pipe[p].queue);
    core->pipe[p].left_queue = malloc(MAX_QUEUE * sizeof *core->pipe[p].left_queue);
    open = open && core->pipe[p].queue && core->pipe[p].left_queue;
  }
  return open;
}

static ascir_core *new_core(int64_t ub_bytes) {
  ascir_core *core = calloc(1, sizeof *core);
  if (!core || (ascir_ub_open(&core->ub, ub_bytes) && open_pipes(core))) return core;
  ascir_ub_close(&core->ub);
  for (int p = 0; p < ASCIR_PIPES; p++) {
    free(core->pipe[p].queue);
    free(core->pipe[p].left_queue);
  }
  free(core);
  return NULL;
}

// An idle core with this much UB, or a new one. The pool is locked.
static ascir_core *take_core(ascir_pool *pool, int64_t ub_bytes) {
  for (ascir_core **link = &pool->idle; *link; link = &(*link)->next)
    if ((*link)->ub.bytes == ub_bytes) {
      ascir_core *core = *link;
      *link = core->next;
      return core;
    }
  return new_core(ub_bytes);
}

static void prepare_core(ascir_core *core, const job *j) {
  const ascir_request *request = j->request;
  core->target = request->target;
  core->args = request->args;
  core->seen = j->seen;
  core->arg_count = request->arg_count;
  core->block_num = request->block_dim;
  core->checks = request->checks;
  core->thorough = request->thorough;
  core->policy = request->policy;
  core->tracing = request->tracing;
  memset(&core->counts, 0, sizeof core->counts);
}

// Everything a block may have left behind; memory that it reserved is kept.
static void reset_core(ascir_core *core, int64_t block) {
  core->block_idx = block;
  core->buffers = core->queues = core->faults = 0;
  core->events = 0;
  core->to_wake = 0;
  core->arithmetic_pj = core->ub_bytes = 0.0;
  memset(core->flags_set, 0, sizeof core->flags_set);
  for (int p = 0; p < ASCIR_PIPES; p++) {
    ascir_pipe *pipe = &core->pipe[p];
    *pipe = (ascir_pipe){.queue = pipe->queue, .left_queue = pipe->left_queue};
    for (int k = 0; k < 4; k++) core->history[p][k / 2][k % 2].count = 0;
  }
  core->gm_log.count = core->gm_log.lost = 0;
}

// ---- what a block leaves ------------------------------------------------------------------------------------------------------------------

static ascir_block_times times_of(const ascir_core *core) {
  ascir_block_times times = {.arithmetic_pj = core->arithmetic_pj, .ub_bytes = core->ub_bytes};
  for (int p = 0; p < ASCIR_PIPES; p++) {
    times.busy[p] = core->pipe[p].busy;
    times.cycles = times.cycles > core->pipe[p].free ? times.cycles : core->pipe[p].free;
  }
  return times;
}

static void keep_faults(ascir_result *result, const ascir_core *core) {
  int64_t n = core->faults < MAX_KEPT_FAULTS - result->faults ? core->faults : MAX_KEPT_FAULTS - result->faults;
  ascir_fault *fault = n ? realloc(result->fault, (size_t)(result->faults + n) * sizeof *fault) : NULL;
  if (!fault) return;
  memcpy(fault + result->faults, core->fault, (size_t)n * sizeof *fault);
  result->fault = fault;
  result->faults += n;
}

static void keep_events(job *j, const ascir_core *core) {
  ascir_result *result = j->result;
  int64_t need = result->events + core->events;
  if (need > j->event_capacity) {
    ascir_event *event = need > MAX_KEPT_EVENTS ? NULL : realloc(result->event, (size_t)(2 * need) * sizeof *event);
    if (!event) {
      result->events_lost += core->events;
      return;
    }
    result->event = event;
    j->event_capacity = 2 * need;
  }
  if (core->events) memcpy(result->event + result->events, core->event, (size_t)core->events * sizeof *core->event);
  result->events = need;
}

static void keep_buffers(ascir_result *result, const ascir_core *core) {
  result->buffer = calloc((size_t)core->buffers + 1, sizeof *result->buffer);
  if (!result->buffer) return;
  for (; result->buffers < core->buffers; result->buffers++) {
    const ascir_buffer *buffer = &core->buffer[result->buffers];
    ascir_buffer_use *use = &result->buffer[result->buffers];
    *use = (ascir_buffer_use){buffer->offset, buffer->bytes, buffer->dtype, buffer->line, {0}};
    strncpy(use->name, buffer->name, NAME_BYTES - 1);
  }
}

static void run_block(ascir_core *core, job *j, int64_t block) {
  reset_core(core, block);
  open_port(core, j, block);
  ascir_schedule_reset(core, (uint64_t)j->request->seed);
  current = core;
  if (setjmp(core->leave) == 0) {
    j->request->entry();
    ascir_finish(core);
  }
  current = NULL;
  j->times[block] = times_of(core);
}

static void keep_block(ascir_pool *pool, ascir_core *core, job *j) {
  if (!core->faults && !core->tracing && !core->gm_log.count) return;
  pthread_mutex_lock(&pool->lock);
  ascir_join_logs(&j->gm_log, &core->gm_log);
  keep_faults(j->result, core);
  keep_events(j, core);
  if (core->tracing && core->block_idx == 0) keep_buffers(j->result, core);
  pthread_mutex_unlock(&pool->lock);
}

static void add_counts(ascir_counts *sum, const ascir_counts *counts) {
  sum->bytes_read += counts->bytes_read;
  sum->bytes_written += counts->bytes_written;
  sum->ub_peak = sum->ub_peak > counts->ub_peak ? sum->ub_peak : counts->ub_peak;
  for (int k = 0; k < ASCIR_OPERATIONS; k++) sum->operations[k] += counts->operations[k];
  for (int p = 0; p < ASCIR_PIPES; p++) sum->of_pipe[p] += counts->of_pipe[p];
}

// Runs blocks until none is left. Called and left with the pool locked.
static void run_blocks(ascir_pool *pool, job *j) {
  ascir_core *core = take_core(pool, j->request->target->ub_bytes);
  pthread_mutex_unlock(&pool->lock);
  if (core) prepare_core(core, j);
  const ascir_request *r = j->request;
  for (int64_t turn; core && (turn = __atomic_fetch_add(&j->next_block, 1, __ATOMIC_RELAXED)) < r->block_dim;) {
    run_block(core, j, ascir_block_in_turn(r->policy, (uint64_t)r->seed, turn, r->block_dim));
    keep_block(pool, core, j);
    if (r->finished) __atomic_fetch_add(r->finished, 1, __ATOMIC_RELAXED);
  }
  pthread_mutex_lock(&pool->lock);
  if (!core) {
    j->result->out_of_memory |= j->next_block < j->request->block_dim;
    return;
  }
  add_counts(&j->result->counts, &core->counts);
  core->next = pool->idle;
  pool->idle = core;
}

// ---- host threads -------------------------------------------------------------------------------------------------------------------------

static job *wanting_help(const ascir_pool *pool) {
  for (job *j = pool->jobs; j; j = j->next)
    if (j->helpers_wanted > 0) return j;
  return NULL;
}

static void *helper(void *argument) {
  ascir_pool *pool = argument;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    job *j = wanting_help(pool);
    if (!j) {
      pthread_cond_wait(&pool->work, &pool->lock);
      continue;
    }
    j->helpers_wanted--;
    j->running++;
    run_blocks(pool, j);
    if (--j->running == 0) pthread_cond_broadcast(&pool->done);
  }
  return NULL;
}

static void start_helpers(ascir_pool *pool) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (pthread_t thread; pool->started < pool->helpers; pool->started++)
    if (pthread_create(&thread, &attributes, helper, pool) != 0) break;
  pthread_attr_destroy(&attributes);
}

static void call_for_help(ascir_pool *pool, job *j) {
  int64_t wanted = j->request->block_dim < j->request->threads ? j->request->block_dim : j->request->threads;
  j->helpers_wanted = (int32_t)(wanted - 1 < pool->helpers ? wanted - 1 : pool->helpers);
  if (j->helpers_wanted <= 0) return;
  start_helpers(pool);
  j->next = pool->jobs;
  pool->jobs = j;
  for (int k = 0; k < j->helpers_wanted; k++) pthread_cond_signal(&pool->work);
}

static void dismiss(ascir_pool *pool, job *j) {
  for (job **link = &pool->jobs; *link; link = &(*link)->next)
    if (*link == j) {
      *link = j->next;
      break;
    }
  while (j->running) pthread_cond_wait(&pool->done, &pool->lock);
}

// `helpers` host threads are started when the first launch can use them, and stay.
ascir_pool *ascir_pool_open(int32_t helpers) {
  ascir_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return NULL;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->helpers = helpers;
  return pool;
}

// ---- the end ------------------------------------------------------------------------------------------------------------------------------

// Blocks that share a physical core run one after another: events move behind the blocks before theirs.
static void finish_times(const job *j, double *core_time) {
  const ascir_request *request = j->request;
  ascir_result *result = j->result;
  int64_t cores = physical_cores(request);
  double *start = result->events ? calloc((size_t)request->block_dim, sizeof *start) : NULL;
  for (int64_t block = 0; block < request->block_dim; block++) {
    const ascir_block_times *times = &j->times[block];
    if (start) start[block] = core_time[block % cores];
    core_time[block % cores] += times->cycles;
    result->arithmetic_pj += times->arithmetic_pj;
    result->ub_bytes += times->ub_bytes;
    for (int p = 0; p < ASCIR_PIPES; p++) result->busy[p] += times->busy[p];
    if (core_time[block % cores] > result->cycles) result->cycles = core_time[block % cores];
  }
  for (int64_t k = 0; start && k < result->events; k++) {
    ascir_event *event = &result->event[k];
    event->core = (int32_t)(event->block % cores);
    event->start += start[event->block];
  }
  double bytes = (double)(result->counts.bytes_read + result->counts.bytes_written), least = bytes / j->shared_rate;
  if (least > result->cycles) result->cycles = least;
  result->cores = cores;
  free(start);
}

// What no block sees by itself. The caller's thread left its core idle.
static void compare_blocks(ascir_pool *pool, job *j) {
  ascir_core *core = j->gm_log.count ? take_core(pool, j->request->target->ub_bytes) : NULL;
  if (!core) return;
  prepare_core(core, j);
  reset_core(core, 0);
  ascir_compare_blocks(core, &j->gm_log);
  keep_faults(j->result, core);
  core->next = pool->idle;
  pool->idle = core;
}

// The arguments as the kernel sees them.
static ascir_arg *seen_by_kernel(const ascir_request *request) {
  ascir_arg *seen = calloc((size_t)request->arg_count + 1, sizeof *seen);
  for (int64_t k = 0; seen && k < request->arg_count; k++) {
    seen[k] = request->args[k];
    if (seen[k].p && request->windows) seen[k].p = (void *)(((uintptr_t)k + 1) << WINDOW_BITS | (uintptr_t)1 << (WINDOW_BITS - 1));
  }
  return seen;
}

void ascir_launch(ascir_pool *pool, const ascir_request *request, ascir_result *result) {
  ascir_arg *seen = seen_by_kernel(request);
  job j = {.request = request, .result = result, .seen = seen};
  memset(result, 0, sizeof *result);
  j.times = calloc((size_t)request->block_dim, sizeof *j.times);
  double *core_time = calloc((size_t)physical_cores(request), sizeof *core_time);
  result->out_of_memory = !j.times || !core_time || !seen;
  if (!result->out_of_memory) {
    choose_memory(&j);
    pthread_mutex_lock(&pool->lock);
    call_for_help(pool, &j);
    run_blocks(pool, &j);
    dismiss(pool, &j);
    compare_blocks(pool, &j);
    pthread_mutex_unlock(&pool->lock);
    finish_times(&j, core_time);
  }
  result->accesses_lost = j.gm_log.lost;
  free(j.gm_log.entry);
  free(seen);
  free(j.times);
  free(core_time);
}

void ascir_release(ascir_result *result) {
  free(result->fault);
  free(result->event);
  free(result->buffer);
}

// Sizes of the structs shared with emulator.py, so that it can tell that both speak of the same.
int64_t ascir_size_of(int32_t which) {
  const int64_t sizes[] = {sizeof(ascir_arg), sizeof(ascir_target), sizeof(ascir_request), sizeof(ascir_result),
                           sizeof(ascir_fault), sizeof(ascir_event), sizeof(ascir_buffer_use)};
  return sizes[which];
}
