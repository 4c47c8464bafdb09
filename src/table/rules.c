/* SPDX-License-Identifier: Apache-2.0 */
#include "table/rules.h"

#include <ctype.h>

#define TORCH  "PyTorch 2.13"
#define PLUGIN "torch-tb-profiler 0.4.3, TensorBoard's plugin for PyTorch"

/* A line of the source is a line of the text. */
/* clang-format off */
const struct osc_rule_text osc_rules[] = {
{OSC_RULE_RANKS, "Ranks and spans",
"A run is one or more files. Each file belongs to a rank, and to a span, which\n"
"is one recording window of that rank.\n"
"\n"
"- The rank is the first of these that exists and is a number of at least 0:\n"
"  `distributedInfo.rank`, `RANK`, `OMPI_COMM_WORLD_RANK`, `PMI_RANK` and\n"
"  `SLURM_PROCID` in the metadata of the file; a rank in its name (`rank-3`,\n"
"  `rank3`, `rank_3`, `host_3`); 0.\n"
"- Files named `WORKER.NUMBER.pt.trace.json` are numbered from 1 for each\n"
"  worker, in order of NUMBER. Equal numbers are one span. The other files of a\n"
"  rank follow in the order in which they were given.\n"
"- With more than one rank or span, every table has the leading columns `rank`\n"
"  and `span` and a block of rows for each. `--merge` makes one block of all.\n",
"metadata and names as " TORCH " and MPI launchers write them; names as "
"torch.profiler.tensorboard_trace_handler makes them."},

{OSC_RULE_MERGE, "Merging",
"`--merge` makes one row of the rows of all ranks and spans that have the same\n"
"key. What becomes of a column is listed with it:\n"
"\n"
"- key: part of the key;\n"
"- sum, smallest, largest: of the values;\n"
"- any: true if it is true in any row;\n"
"- first: the value of the first row;\n"
"- all: every text, one per line;\n"
"- computed: computed again from merged sums, as its formula says. A mean over\n"
"  ranks is therefore the mean over all calls, not the mean of means.\n"
"\n"
"A median does not follow from the medians of parts, so it is missing from rows\n"
"that were made of several.\n",
"own rule."},

{OSC_RULE_TIME, "Time",
"Columns that end in `_ns` are whole nanoseconds.\n"
"\n"
"- The origin, time 0, is the smallest start of all events of all files.\n"
"  Metadata and arrows do not count. `info` has its wall clock time as\n"
"  `origin_unix_ns`.\n"
"- Decimal microseconds of a file are read digit by digit, never as a floating\n"
"  point number. Start and end are each rounded half up to a nanosecond; the\n"
"  duration is their difference, so that nesting survives rounding.\n"
"- Files are aligned by wall clock (`ts` + `baseTimeNanoseconds`). Files of the\n"
"  same boot of a machine (`boot_id` in the metadata) are aligned by its\n"
"  monotonic clock. Files of several machines are aligned by wall clock and\n"
"  counted as `unaligned` in `quality`.\n"
"- Files whose times are earlier than 1973 hold no wall clock time. They share\n"
"  an origin of their own.\n",
"own rule; units and members of the Trace Event Format as " TORCH " writes it."},

{OSC_RULE_KINDS, "Kinds of events",
"Every event has one kind, whatever wrote it. In Chrome traces it follows from\n"
"the category, in any case:\n"
"\n"
"- operator: `cpu_op`, `operator`, `hpu_op`\n"
"- annotation: `user_annotation`, `gpu_user_annotation`\n"
"- runtime: `runtime`, `cuda_runtime`, `xpu_runtime`, `mtia_runtime`,\n"
"  `glow_runtime`, `privateuse1_runtime`\n"
"- driver: `cuda_driver`, `xpu_driver`, `privateuse1_driver`\n"
"- kernel: `kernel`, `mtia_ccp_events`; memcpy: `memcpy`, `gpu_memcpy`; memset:\n"
"  `memset`, `gpu_memset`; sync: `cuda_sync`, `xpu_sync`, `cuda_event`\n"
"- python: `python`, `python_function`; module: `python_function` with the\n"
"  argument `Python module id`\n"
"- communication: `collective_comm`; overhead: `overhead`\n"
"- counter: phase C; instant: phases i, I and n; scope: everything else\n"
"\n"
"A name refines the kind of operators and annotations of the host:\n"
"`ProfilerStep#N` is a step; `enumerate(DataLoader)#... .__next__` and\n"
"`enumerate(DataPipe)#...` are dataloader; an annotation `Optimizer.step...` is\n"
"optimizer; an annotation with the name of a collective is communication. An\n"
"instant `[memory]` is alloc if its argument `Bytes` is above 0, and otherwise\n"
"free; `[OutOfMemory]` is oom. Our own recordings store the kind itself.\n",
"categories and names that Kineto and PyTorch 1.6 to 2.13 write."},

{OSC_RULE_NAMES, "Names",
"Names are bytes as the file has them. Text forms show what is not UTF-8 as\n"
"U+FFFD. A process or thread is written as the file writes it (members `pid`\n"
"and `tid`). Text output shortens the template arguments of kernel names unless\n"
"`--full-names` is given; machine forms never do.\n"
"\n"
"PyTorch writes some labels with bare quotation marks, and replaces labels that\n"
"are not printable ASCII by `unknown`. The first are read whole, the second are\n"
"lost; `quality` counts both (`repaired_name`, `lost_name`).\n",
"own rule; behaviour of " TORCH "."},

{OSC_RULE_FOREST, "Nesting and self time",
"Ranges of one thread, or of one queue of a device, form a forest.\n"
"\n"
"- Only synchronous ranges that have ended take part: phases X, and B with its\n"
"  E. Asynchronous ranges, instants and counters have no parent and no self\n"
"  time.\n"
"- Ranges are sorted by start; of equal starts the longer is first; of equal\n"
"  ranges the one that is first in the file.\n"
"- A range ends before another one starts if its end is not later than that\n"
"  start. The parent of a range is the innermost earlier one that contains it\n"
"  whole. Ranges that overlap in part are siblings and counted as\n"
"  `partial_overlap`. Nothing is removed or cut.\n"
"- Self time = duration - sum of the durations of the children. It can be\n"
"  negative, which is counted as `negative_self`.\n"
"- A parent is always on the same thread or queue.\n",
"own rule; it agrees with torch.autograd.profiler_util of " TORCH " where that "
"builds its tree."},

{OSC_RULE_LINKS, "What launched what",
"- Work of a device (kernel, memcpy, memset) belongs to the call of the device\n"
"  runtime or driver with its argument `correlation`: of several the latest\n"
"  that starts no later than the work, or else the first.\n"
"- A call belongs to the operator that its external id names, if the range of\n"
"  that operator contains the call in time, ends included, on any thread of the\n"
"  process; or else to the innermost operator around it on its own thread; or\n"
"  else to none.\n"
"- Work whose call or operator is not known is never given to another one.\n"
"  `quality` counts it as `no_launch` or `no_operator`; tables show it as\n"
"  `(none)`.\n"
"- The external id is the argument `external id` or else `External id`; 0 is\n"
"  none.\n",
"own rule; it gives the numbers of " PLUGIN ", on its own test traces, and needs "
"no external id, which traces of PyTorch 1.12 to 2.1 have wrong."},

{OSC_RULE_ARROWS, "Arrows",
"An arrow is made of records with one category and id, in order of time: a\n"
"start (phase s), steps (t) and ends (f).\n"
"\n"
"- A step or end is reached from the latest start or step before it. Several\n"
"  ends give several arrows. If clocks disagree and an end is before all\n"
"  starts, the first start leads to it.\n"
"- A record stands for the range of its thread that starts at its time, or else\n"
"  for the innermost range around it. An end without `bp: e` that no range\n"
"  contains stands for the next range of its thread.\n"
"- A record of a forward-backward arrow stands for the operator that starts at\n"
"  its time: of several the innermost that has a `Sequence number`, or else the\n"
"  outermost. It never stands for an operator around it.\n",
"the Trace Event Format, and how viewers draw it."},

{OSC_RULE_STEPS, "Steps",
"A step is one annotation of a host thread named `ProfilerStep#N`, or one call\n"
"of `osc_step()` of the recorder. Copies of the annotation on devices are no\n"
"steps.\n"
"\n"
"- Steps are numbered from 0 in order of start, for each rank and span. The\n"
"  label is the number N that the program gave. A repeated label is another\n"
"  step. Selections change neither.\n"
"- A host event belongs to the step that contains its start, on any thread of\n"
"  the process; of overlapping steps to the first. In a process that announced\n"
"  no steps it belongs to the step of any process.\n"
"- Work of a device belongs to the step of its launch.\n"
"- A trace without steps counts as one step, with the label 0, from the first\n"
"  start to the last end of its operators and `python` ranges.\n",
"step annotations of torch.profiler; a step that its launches define is the rule "
"of " PLUGIN "."},

{OSC_RULE_STEP_LENGTH, "Length of a step",
"A step lasts until the devices have done what was launched in it, and it\n"
"starts no sooner than the step before it ended. In each process:\n"
"\n"
"- A call of the runtime or driver counts for a step if it starts and ends in\n"
"  its annotation. n(i) is the number of kernels, copies and memsets that the\n"
"  calls of step i launched.\n"
"- previous = start of the first annotation, or the latest end of work of no\n"
"  step that was over before the work of the first step began, if that is\n"
"  later.\n"
"- For each step i: start = max(previous, start of the annotation); end =\n"
"  max(end of the annotation, start, last end of its device work); previous =\n"
"  end.\n"
"- Without device work in any step, steps are their annotations.\n"
"- Tail rule: with two steps or more and some device work, the steps at the end\n"
"  that launched nothing are not kept; then, with k the last step that is left,\n"
"  k is not kept if 0.8 * n(k - 1) > n(k). The profiler may have stopped before\n"
"  all of their work was recorded. Averages and advice use kept steps; the\n"
"  table `steps` shows all of them.\n",
"steps of " PLUGIN "."},

{OSC_RULE_BREAKDOWN, "Breakdown of a step",
"Every nanosecond of a step goes to the first of these classes that has an\n"
"event running at that time, on any thread or device:\n"
"\n"
"1. kernel: kernels that are no communication\n"
"2. memcpy: copies by a device\n"
"3. memset: memsets by a device\n"
"4. communication: kernels of communication libraries; in a trace that has\n"
"   none, the host ranges of collectives\n"
"5. runtime: calls of the device runtime or driver\n"
"6. dataloader: waits for data (kind dataloader)\n"
"7. cpu_exec: every other operator, annotation and `python` range of the host\n"
"8. other: nothing of the above\n"
"\n"
"So host time that is hidden behind a kernel counts as kernel, and the eight\n"
"parts add up to the length of the step. Only when the work runs matters, not\n"
"which step launched it. Step annotations, modules, Python frames and\n"
"annotations on devices feed no class. Example: cpu_exec from 1 to 3, a kernel\n"
"from 2 to 7 and a copy from 4 to 6 give kernel 5, memcpy 0 and cpu_exec 1.\n"
"\n"
"Average of a class = its sum over the kept steps / number of kept steps.\n",
"the overview of " PLUGIN ". Where devices are busy all of the time that plugin "
"restarts from the whole step, so that its parts exceed the total; here the rest is 0."},

{OSC_RULE_OUTLIERS, "Slow steps",
"The median m is that of the lengths of all kept steps; MAD is the median of\n"
"|length - m| over the kept steps. A kept step is an outlier if |length - m| >\n"
"3 * MAD. If MAD is 0, because more than half of the steps are equally long, it\n"
"is an outlier if |length - m| > m / 10.\n"
"\n"
"For an outlier that is longer than m, `grew` names the operator, or the wait\n"
"for data, whose time exceeds its own median over the kept steps by most. Its\n"
"time on the host is the duration of its calls in the step - that of the\n"
"operators directly inside them, calls of the device runtime included; on the\n"
"device, that of the work which its own calls launched. A step in which it does\n"
"not occur counts as 0.\n",
"own rule."},

{OSC_RULE_COMMUNICATION, "Communication",
"- A kernel is communication if its name contains, in any case, `nccl`, `rccl`,\n"
"  `oneccl`, `hccl`, `msccl`, `cross_device_reduce`, `one_shot_all_reduce`,\n"
"  `two_shot_all_reduce`, `multimem_all_`, `nvshmem`, `deep_ep` or\n"
"  `userbuffers`; or if it has the argument `Collective name` or `Process Group\n"
"  Name`.\n"
"- An operator, annotation or `python` range of the host is a collective if its\n"
"  name begins with `nccl:`, `gloo:`, `mpi:`, `ucc:`, `xccl:`, `hccl:` or\n"
"  `c10d::`, or is `record_param_comms`.\n"
"- The host range of a collective counts as communication only in a trace\n"
"  without communication kernels (Gloo, MPI). Next to such kernels it is\n"
"  cpu_exec.\n"
"- `--compat tb`: communication is a kernel that has the external id of one of\n"
"  ten collectives (`nccl:` or `gloo:` with `broadcast`, `reduce`,\n"
"  `all_reduce`, `all_gather` or `reduce_scatter`), and always the host range\n"
"  of these.\n",
"own rule; names of the libraries, arguments that Kineto adds to collectives. "
"--compat tb: " PLUGIN "."},

{OSC_RULE_OPERATORS, "Operator tree",
"The tables `operators`, `kernels`, `memory` and `modules` use a tree of their\n"
"own over the ranges of a host thread.\n"
"\n"
"- Its nodes are operators, `python` ranges, steps, modules, waits for data,\n"
"  annotations `Optimizer.step...` and the ten collectives of `--compat tb`.\n"
"  Python frames and other annotations are not in it, so they own and split\n"
"  nothing.\n"
"- Rows of `operators` are operators that are not steps, waits for data,\n"
"  `DataParallel.forward`, `DistributedDataParallel.forward` or named\n"
"  `Optimizer....`.\n"
"- An operator that is the only child of an operator of the same name is merged\n"
"  into it. The outer one keeps its times, and gets the children and the\n"
"  runtime calls of the inner one instead of its own calls.\n"
"- Host self time = duration - durations of the children - durations of its own\n"
"  calls of the device runtime and driver. It can be negative.\n"
"- Device self time = sum of the durations of the kernels, copies and memsets\n"
"  that its own calls launched. Device total time adds that of all children.\n"
"  These are plain sums: work that runs at the same time on two queues counts\n"
"  twice.\n"
"- Ranges that overlap in part hang below the lowest node that contains them.\n",
"the operator view of " PLUGIN "; that plugin drops ranges that overlap in part."},

{OSC_RULE_TENSOR_CORES, "Tensor Cores",
"Both answers follow from names.\n"
"\n"
"- A kernel uses Tensor Cores if its name contains one of `h884`, `s884`,\n"
"  `h1688`, `s1688`, `hmma`, `i8816`, `16816`, `dgrad_1x1_stride_2x2`,\n"
"  `first_layer_wgrad_kernel`, `conv1x1`, `conv2d_c1_k1`, `direct_group`,\n"
"  `xmma_implicit_gemm`, `xmma_sparse_conv`,\n"
"  `xmma_warp_specialized_implicit_gemm`, `xmma_gemm`, `xmma_sparse_gemm`,\n"
"  `c1688` (the list of 2021); or `tensorop`, `nvjet_`, `wgmma`, `flash_fwd`,\n"
"  `flash_bwd`, `fmha`, `xmma_fprop`, `xmma_dgrad`, `xmma_wgrad`.\n"
"- It does not if its name contains `at::native::`, `nccl`, `simt`,\n"
"  `volta_sgemm` or `maxwell_sgemm` and none of the above.\n"
"- Any other name: not known, shown as missing.\n"
"- An operator can use Tensor Cores if its name is in a list of convolutions,\n"
"  matrix products, linear layers, recurrent cells and attention. The table\n"
"  `kernels` asks for the name only; `operators` also says yes if an operator\n"
"  inside it can, or if a kernel of its own did.\n"
"- `--compat tb`: the lists of 2021 alone, and \"no\" for any other name.\n",
"the lists of 2021 are those of " PLUGIN ", which took them from NVIDIA PyProf; the "
"others are our own. All of them stand in classify.c of the source."},

{OSC_RULE_LOADS, "Use of a device",
"Only kernels count, not copies and memsets. W is a stretch of time: in\n"
"`devices` from the start of the first kept step to the end of the last one,\n"
"gaps between steps included; in `utilization` a bucket.\n"
"\n"
"- Utilization = time of W in which at least one kernel of the device runs / W.\n"
"  One thread of one block counts as much as a full device.\n"
"- SM efficiency is estimated from the argument `blocks per SM`. At each time\n"
"  its value is min(sum of `blocks per SM` of the running kernels, 1). The\n"
"  efficiency is the integral of that over W / W. Values that are not above 0\n"
"  are ignored. The sums are exact.\n"
"- Occupancy = sum of (`est. achieved occupancy %` / 100 * time of the kernel\n"
"  in W) / sum of the times of the kernels that have that argument.\n"
"- Numbers beyond 2^64, infinite or negative ones count as missing.\n"
"- Buckets: time from the event `PyTorch Profiler (0)`, or else of all events,\n"
"  is divided by the smallest power of ten of microseconds that gives at most\n"
"  100 buckets. The last one reaches to the end and is longer.\n",
"GPU summary and counters of " PLUGIN "; Kineto computes the arguments from launch "
"sizes, so they are estimates and not measured."},

{OSC_RULE_DEVICES, "Names of devices",
"A device is named by its family and number, such as `cuda:0` or `xpu:1`; `cpu`\n"
"is the host. The name of a device of queues follows from the trace: the\n"
"category and arguments of its work. Memory records name it by their arguments\n"
"`Device Type` and `Device Id`; if these are missing or make no sense, it is\n"
"`unknown`.\n"
"\n"
"What a device is (name, memory, compute capability, number of multiprocessors)\n"
"comes from the list `deviceProperties` of the file: from its entry with the\n"
"number of the device as `id`, or at that position. What it does not say is\n"
"missing.\n",
"the member deviceProperties that Kineto writes; numbers of c10::DeviceType of "
TORCH "."},

{OSC_RULE_MEMORY, "Memory records",
"A record is an instant named `[memory]`. Its argument `Bytes` is above 0 for\n"
"an allocation and otherwise that of a release; a record without it is ignored\n"
"and counted as `bad_memory_record`.\n"
"\n"
"- A record belongs to the deepest node of the operator tree of its thread with\n"
"  start <= time < end. If that node is an operator, the record is its own; if\n"
"  it is anything else, or there is none, the record belongs to `(none)`.\n"
"- Releases count where they happen, which is often another operator than the\n"
"  one that allocated. The increases of operators therefore do not add up to\n"
"  zero.\n"
"- A device is (process, `Device Type`, `Device Id`). The CPU is one device,\n"
"  whatever its id.\n"
"- `Total Allocated` and `Total Reserved` are what the allocator counted itself\n"
"  after the record. Nothing is known between records.\n",
"records of torch.profiler with profile_memory=True; memory view of " PLUGIN "."},

{OSC_RULE_PAIRS, "Allocations and releases",
"In order of time, a release belongs to the latest allocation of the same\n"
"process, device and address (argument `Addr`) that has not ended.\n"
"\n"
"- If an address is allocated again without a release, the earlier allocation\n"
"  ends there; it is counted as `lost_release` and has a note.\n"
"- A release without an allocation has no `alloc_ns`; an allocation without a\n"
"  release has no `free_ns`. Both are rows.\n"
"- Records without an address, and those of an unknown device, are not paired.\n"
"- An allocation is alive at a time if it was made no later than that and has\n"
"  not ended by then.\n",
"own rule. " PLUGIN ", pairs by address alone and forgets allocations whose address "
"is used again."},

{OSC_RULE_AVERAGES, "Averages as torch counts them",
"The table `averages` gives what `key_averages()` of " TORCH " gives in the\n"
"program that wrote the trace. It has a tree of its own.\n"
"\n"
"- Operators, annotations, Python functions and calls of the device runtime are\n"
"  events of the host; kernels, copies, memsets, synchronizations and copies of\n"
"  annotations are events of devices. `profiler::_record_function_enter`,\n"
"  `profiler::_record_function_enter_new`, `profiler::_record_function_exit`,\n"
"  `aten::is_leaf`, `aten::output_nr` and `aten::_version` are left out.\n"
"- `ProfilerStep#N` is renamed `ProfilerStep*`.\n"
"- The tree is built per process and thread, by start, longer first, then order\n"
"  of the file. Ranges that touch or overlap in part are siblings. A call of\n"
"  the runtime stands on the thread of its operator.\n"
"- Ranges `gloo:...`, `nccl:...`, `mpi:...`, `ucc:...` and `xccl:...` among the\n"
"  annotations are asynchronous: they have a total, but no self time, parent or\n"
"  children.\n"
"- Folding, after renaming, until nothing changes: an event that is the only\n"
"  child of an event of the same name is removed; its children and kernels go\n"
"  to the outer one, which keeps its own times, memory and shapes.\n"
"- Rows have equal name, device type and origin (user annotation or not), and\n"
"  with `--group-by` equal shapes or first N frames. They stand in order of\n"
"  first appearance; the first event supplies what is not summed.\n"
"- Self CPU time = duration - durations of the direct children. Nothing is\n"
"  clamped, so it can be negative. The total counts nested calls again.\n",
"torch.autograd.profiler_util (EventList, FunctionEventAvg) of " TORCH ". A file "
"lacks some of what torch has in memory: lost names, asynchronous events that are "
"no collectives, overload names."},

{OSC_RULE_TORCH_DEVICE, "Device time as torch counts it",
"- A kernel, copy or memset is a row of its own, with its duration as self and\n"
"  total device time and no CPU time.\n"
"- It is also added to the self device time of the operator that launched it:\n"
"  the one that the rule \"What launched what\" gives, outside asynchronous\n"
"  ranges, and unless that operator is left out. Work of MTIA and HPU devices\n"
"  is not added.\n"
"- Total device time = self device time + that of all children.\n"
"- So device work is counted twice in a sum over all rows. torch's own total in\n"
"  the footer of its table counts only device rows.\n",
"torch.autograd.profiler_util of " TORCH "."},

{OSC_RULE_TORCH_MEMORY, "Memory as torch counts it",
"- CPU memory of a host event = sum of `Bytes` of all records of type CPU,\n"
"  MKLDNN or IDEEP with start <= time <= end, on any thread; releases are\n"
"  negative. Device memory: the same for CUDA, HIP, XPU and PrivateUse1.\n"
"- Self memory = that of the event - that of its direct children; 0 for\n"
"  asynchronous ranges.\n"
"- A record outside all host events becomes an event `[memory]` without\n"
"  duration, a failed allocation an event `[OutOfMemory]`.\n",
"torch.autograd.profiler and profiler_util of " TORCH "."},

{OSC_RULE_STACKS, "Call stacks",
"- A stack is the argument `Call stack` of an operator, innermost frame first.\n"
"- `averages`: frames that torch adds itself (`autograd/__init__` with\n"
"  `_make_grads` or `backward`, `torch/tensor` with `backward`, test helpers)\n"
"  are dropped. A backward function is an event below\n"
"  `autograd::engine::evaluate_function: ` + its own name. It and everything\n"
"  below it have the stack of the forward operator with the same `Sequence\n"
"  number` on the thread that `Fwd thread id` means; the arrows of category\n"
"  fwdbwd tell which thread that is. Without such an operator the stack is\n"
"  empty.\n"
"- `operators`: in a file in which no event has `Call stack`, the stack is\n"
"  rebuilt from the `python_function` events that contain the operator on its\n"
"  thread, the innermost 128 of them.\n",
"torch.autograd.profiler_util of " TORCH "; the rebuilt stack is our own rule."},

{OSC_RULE_FLOPS, "FLOPs",
"Seven operators have an estimate, from `Input Dims` and `Concrete Inputs`. A\n"
"multiplication with its addition counts as two operations.\n"
"\n"
"- aten::mm, aten::addmm: 2 * m * k * n\n"
"- aten::bmm, aten::baddbmm: 2 * b * m * k * n\n"
"- aten::conv2d: 2 * N * Ho * Wo * kh * kw * Cin * Cout / groups, with Ho = (H\n"
"  + 2 * padding - dilation * (kh - 1) - 1) / stride + 1, rounded down, and the\n"
"  same for Wo\n"
"- aten::mul, aten::add: the number of elements of the first input\n"
"\n"
"Bias, broadcasting and all other operators count as nothing. Inputs that are\n"
"not recorded, or of another form, give 0. The column exists if the file says\n"
"`with_flops`.\n",
"torch/csrc/profiler/util.cpp of " TORCH "."},

{OSC_RULE_MODULES, "Modules",
"A scope is a call of an nn.Module; a range `[pl][module]TYPE: NAME` of\n"
"Lightning; with `--group-by annotation` a range that the program named; with\n"
"`--group-by line` a Python frame, by file and line. A row is one place: the\n"
"name and module id of a scope below the place of the scope around it.\n"
"\n"
"- The scope around a module is the nearest module up its chain of `Python\n"
"  parent id`. If no module of the trace has that argument, and for other\n"
"  scopes, it is the nearest scope around it on its thread. Modules of\n"
"  Lightning nest by their dotted names.\n"
"- If no Python frame tells a line, the innermost line of an operator's `Call\n"
"  stack` is a scope as long as that operator.\n"
"- Host self time = duration - that of the scopes and operators directly\n"
"  inside. Device time is a plain sum over the work launched inside.\n"
"- `--compat tb`: trees of calls that are equal in name, module id and children\n"
"  are one, and each row has the sums over all modules of its name and id,\n"
"  wherever they were called.\n",
"module view of " PLUGIN "; annotations, lines and places are our own rules."},

{OSC_RULE_BACKWARD, "Forward and backward",
"A backward operator is linked to the forward operator whose gradient it\n"
"computes:\n"
"\n"
"- by the arrow of category `fwdbwd` or `forward_backward` that ends at its\n"
"  start;\n"
"- or else by the same `Sequence number`: the operator that starts last among\n"
"  those that run forward, on the thread that the arrows give for its `Fwd\n"
"  thread id`, or on the only thread that runs forward.\n"
"\n"
"Backward time of a place is counted in whole outermost operators of the\n"
"backward thread: each belongs to the place of the forward operator of the\n"
"first link in it. An `AccumulateGrad` without a link goes with the operator\n"
"before it.\n",
"links of " TORCH "; groups of backward operators of " PLUGIN "."},

{OSC_RULE_ADVICE, "Advice",
"A rule applies above its threshold. impact_ns is a length of time within the\n"
"kept steps: the most that a change could save, not what it will save. Times of\n"
"several rules may overlap. The step time is the sum over the kept steps.\n"
"\n"
"- data_loading: class dataloader above 5 % of the step time. Impact: that\n"
"  class.\n"
"- data_parallel: `DataParallel.forward` ran and two devices or more worked.\n"
"  Impact: time in which not all of these devices ran kernels.\n"
"- backend: `DistributedDataParallel.forward` ran, NCCL was not seen, devices\n"
"  worked, and the file lists one of compute capability 3.5 or more. Impact:\n"
"  class communication.\n"
"- communication: that class above 10 %. Impact: that class.\n"
"- low_utilization: a device whose utilization is below 50 %. Impact: the kept\n"
"  time in which the least used of them ran no kernel.\n"
"- tensor_cores: a device of compute capability 7 or more ran kernels, none\n"
"  known to use Tensor Cores, and operators that can use them launched some. If\n"
"  HIP launched one of these and its name tells nothing, the rule does not\n"
"  apply. Impact: time of kernels of the lowest operators that can use them.\n"
"- memory_limit: `Total Allocated` above 90 % of the memory of the device.\n"
"  Impact: calls that take device memory or give it back.\n"
"- idle_device: no kernel, copy, memset or communication in more than 10 % of\n"
"  the kept steps. Impact: that time.\n"
"- synchronization: of that time, what began while the host was in a\n"
"  synchronizing call, or in one that copied from a device to pageable memory,\n"
"  above 5 %. Impact: that time.\n"
"- launch_bound: of that time, what a kernel ended and no such call began,\n"
"  above 5 %, if the median kernel is shorter than the median call that\n"
"  launches one. Kernels of graphs and of communication are left out of the\n"
"  medians.\n"
"- pageable_copies: copies from pageable memory while no kernel ran, above 1 %.\n"
"- allocator: calls that take device memory or give it back, above 1 %.\n"
"- slow_steps: what outliers exceed the median by, together, above 1 %.\n"
"\n"
"Severity is warning if the impact is a tenth of the kept steps or more, and\n"
"always for memory_limit; otherwise info. `--compat tb`: the first seven rules,\n"
"by the numbers of the plugin.\n",
"the first seven are the recommendations of " PLUGIN "; the others follow Nsight "
"Systems and XProf."},

{OSC_RULE_QUALITY, "Findings",
"A finding is a cause with a code that scripts can rely on. It is an error if a\n"
"part of the input is lost, a warning if numbers may be affected, and info if\n"
"something was not recorded. Readers count what they skip, repair or drop;\n"
"searches for parents, launches and releases count what does not fit; the last\n"
"group of codes says what PyTorch's profiler was not asked to record, and\n"
"exists for its traces only. Findings of a selection leave out what the\n"
"selection itself removed.\n",
"own rule."},

{OSC_RULE_SELECTION, "Selections",
"`--rank`, `--span`, `--process`, `--thread`, `--device`, `--steps`, `--from`\n"
"and `--to` leave events out before anything is counted.\n"
"\n"
"- Process and thread keep host events of that name or number and the device\n"
"  work that they launched. Device keeps host events.\n"
"- Steps keep host events that start in one of them, on any thread, and the\n"
"  device work that these launched. From and to keep events with from <= start\n"
"  < to.\n"
"- An arrow stays whole or goes.\n"
"- `memory`, `memory_events`, `memory_curve` and `memory_peaks` pair all\n"
"  records of the trace first and then show the selected ones.\n",
"own rule."},

{OSC_RULE_FACTS, "Facts of a trace",
"- format, producer, producer_version, torch_version, opscope_version: what\n"
"  wrote the file, as far as it says so\n"
"- origin_unix_ns: wall clock time of time 0, in ns since 1970; missing if the\n"
"  times are no wall clock\n"
"- profiler_start_ns: start of the event `PyTorch Profiler (0)`, from the\n"
"  origin\n"
"- duration_ns: from the first start to the last end of all events\n"
"- events, threads, processes, devices, ranks, spans, steps: how many there\n"
"  are; threads and processes are those of the host that have events\n"
"- record_shapes, profile_memory, with_stack, with_modules, with_flops: the\n"
"  switches of the profiler as the file has them; if it has none, whether any\n"
"  event shows that it was on, and false for with_flops\n"
"- meta.NAME: member NAME of the file beside its events\n",
"members of the file as Kineto and opscope write them."},

{0, NULL, NULL, NULL},
};
/* clang-format on */

void osc_rule_add_anchor(struct osc_strbuf *out, const struct osc_rule_text *rule)
{
    for (const char *p = rule->title; *p; p++)
        osc_strbuf_addc(out, (char)(*p == ' ' ? '-' : tolower((unsigned char)*p)));
}
