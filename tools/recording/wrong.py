"""Wrong command lines: each ends with a message on one line, and an exit status of 1 or 2."""

PRELUDE = """
generate ring:nodes=4 -o s.json
generate ring:nodes=4 --collective allreduce -o all.json
generate ring:nodes=4 --method bfb -o steps.json
generate ring:nodes=4 --collective all-to-all -o flows.json
generate ring:nodes=4 --collective all-to-all --method steps -o exchange.json
generate ring:nodes=4 --groups 0,1;2,3 -o bundle.json
one-port ring:nodes=4 --source 0 -o series.json
generate ring:nodes=5 --ranks 0,2 -o part.json
export s.json --to msccl-xml -o p.xml
"""
"""Lines that write valid files, which the wrong lines read."""

WRONG = {
    "usage": """
-
optimun
xyzzy
--verson
optimum
optimum ring:nodes=4 extra
optimum ring:nodes=4 --rot 1
optimum ring:nodes=4 --xyzzy
optimum ring:nodes=4 --collective
optimum ring:nodes=4 --collective allgahter
optimum ring:nodes=4 --collective ''
optimum ring:nodes=4 --trees x
optimum ring:nodes=4 --trees 0
optimum ring:nodes=4 --max-trees 1.5
optimum ring:nodes=4 --trees 2 --max-trees 3
optimum ring:nodes=4 --root 0
optimum ring:nodes=4 --collective broadcast
optimum ring:nodes=4 --collective reduce --root 0 --shards shards.json
optimum ring:nodes=4 --demand demand.csv
optimum ring:nodes=4 --collective all-to-all --trees 2
optimum ring:nodes=4 --collective gather --root 0 --demand three.csv --shards shards.json
optimum ring:nodes=4 --no-relays
optimum ring:nodes=4 --max-peers 0
""",
    "networks": """
optimum none.json
optimum dgx-a10
optimum dgx-a100:boxs=2
optimum dgx-a100:boxes=0
optimum dgx-a100:boxes=two
optimum dgx-a100:boxes=2,boxes=3
optimum dgx-a100:boxes
optimum ring:nodes=1
optimum ring:nodes=4,bandwidth=0
optimum ring:nodes=4,bandwidth=25XB/s
optimum ring:nodes=4,bandwidth=-1
optimum torus:dims=1x4
optimum torus:dims=4y4
optimum distance-regular:nodes=7
optimum circulant:nodes=8,offsets=2+4
optimum cluster:box=nothing,boxes=2
optimum cluster:box=dgx-a100,boxes=2,rails=3
optimum cluster:box=dgx-a100,boxes=2,oversubscription=0
optimum ring:nodes=2000000
optimum empty.json
optimum list.json
optimum cut.json
optimum text.txt
optimum binary.json
optimum split.json
optimum figure-1.json
optimum h100.txt
optimum .
optimum ''
optimum hosts.json --collective broadcast --root spine
optimum hosts.json --collective broadcast --root z
optimum ring:nodes=4 --ranks 0,9
optimum ring:nodes=4 --ranks 0
optimum ring:nodes=4 --ranks 0,0
optimum ring:nodes=4 --ranks 3-1
optimum ring:nodes=4 --ranks ''
optimum ring:nodes=4 --without 0--9
optimum ring:nodes=4 --without 0--1 x 1--2
optimum ring:nodes=4 --without 0--2
optimum ring:nodes=4 --without 0--1 1--2
optimum ring:nodes=4 --degrade 0--1
optimum ring:nodes=4 --degrade 0--1=fast
optimum ring:nodes=4 --shards none.json
optimum ring:nodes=4 --shards list.json
optimum ring:nodes=2 --shards shards.json
optimum ring:nodes=4 --collective all-to-all --demand three.csv
optimum ring:nodes=4 --collective all-to-all --demand text.txt
optimum ring:nodes=4 --collective broadcast --root 0 --max-peers 1
optimum none.json --all
optimum ring:nodes=3 --all --root z
optimum dgx-a100:boxes=2 --all --root ib
optimum figure-1.json --all --json
optimum ring:nodes=3 --collective gather
optimum ring:nodes=3 --collective allgather --root 0
optimum ring:nodes=3 --all --demand demand.csv
optimum dgx-a100:boxes=2,gpus=2 --all --demand pieces.json
optimum ring:nodes=3 --collective allreduce --demand demand.csv
""",
    "groups": """
optimum dgx-a100:boxes=2 --groups 0,1 --layout tp=8,dp=2
optimum dgx-a100:boxes=2 --run dp
optimum dgx-a100:boxes=2 --all --groups 0,8
optimum dgx-a100:boxes=2 --all --layout tp=8,dp=2 --run tp
optimum dgx-a100:boxes=2 --group-sizes 1
optimum dgx-a100:boxes=2 --groups 0,1 --ranks 0-3
optimum dgx-a100:boxes=2 --groups 0,1 --max-trees 3
optimum dgx-a100:boxes=2 --layout tp=8,dp=3
optimum dgx-a100:boxes=2 --layout tp=8,xp=2
optimum dgx-a100:boxes=2 --layout tp=8,tp=2
optimum dgx-a100:boxes=2 --layout tp=8;dp=2
optimum dgx-a100:boxes=2 --layout tp=16,dp=1
optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --run ep
optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --group-sizes 1,2
optimum dgx-a100:boxes=2 --groups 0,1;2
optimum dgx-a100:boxes=2 --groups missing.json
optimum dgx-a100:boxes=2 --groups list.json
optimum dgx-a100:boxes=2 --groups 0,1;2,99
optimum dgx-a100:boxes=2 --groups 0,1;2,3 --group-sizes 1,x
optimum dgx-a100:boxes=2,gpus=2 --demand pieces.json --collective allreduce
optimum dgx-a100:boxes=2,gpus=2 --demand pieces.json --groups 0,1
optimum ring:nodes=3 --demand pieces.json
optimum ring:nodes=3 --demand shards.json
generate dgx-a100:boxes=2,gpus=2 --demand pieces.json --trees 3
generate dgx-a100:boxes=2 --groups 0,1;2,3 --compact
generate dgx-a100:boxes=2 --groups 0,1;2,3 --method bfb
generate dgx-a100:boxes=2 -o members=out
""",
    "generate": """
generate ring:nodes=4 --method fats
generate ring:nodes=4 --chunks 2
generate ring:nodes=4 --size 1MB
generate ring:nodes=4 --method bfb --trees 2
generate ring:nodes=4 --method bfb --root 0
generate ring:nodes=4 --method bfb --ranks 0-2
generate ring:nodes=4 --method bfb --collective broadcast --root 0
generate ring:nodes=4 --method bfb:chunks=0
generate ring:nodes=4 --method bfb --size 0
generate ring:nodes=4 --method bfb --size 1MB
generate ring:nodes=4 --method steps
generate double-binary-tree --method double-binary-tree
generate mesh:dims=2x3 --method bfb --collective all-to-all
generate ring:nodes=4 --method ring --compact
generate ring:nodes=4 --method bfb --demand three.csv
generate ring:nodes=5 --method halving-doubling
generate ring:nodes=4 --method double-binary-tree
generate dgx-a100:boxes=1 --method bfb
generate hosts.json --method ring
generate kautz:degree=2,length=2 --collective all-to-all --method steps:steps=2
generate ring:nodes=4 --collective all-to-all --method fast
generate dgx-a100:boxes=4,gpus=4 --max-peers 1
generate ring:nodes=3 -o ''
generate ring:nodes=3 -o no/folder.json
generate ring:nodes=3 -o .
generate ring:nodes=3 -o x.xml
generate ring:nodes=3 -o x.xml.gz
generate ring:nodes=3 -o newdir/
generate hosts.json -o hosts.json
generate ring:nodes=4 --groups 0,1;2,3 -o members=m -o m/group-1.json
generate ring:nodes=4 --groups 0,1;2,3 -o members=hosts.json
generate ring:nodes=4 --groups groups.json -o groups.json
topology ring:nodes=3 -o x.svg
topology ring:nodes=3 -o no/x.json
topology hosts.json -o hosts.json
topology cluster:box=hosts.json,boxes=2 -o hosts.json
topology crates.json -o x.txt
topology none.json
topology extra
topology -o network.json
topology ring:nodes=3 --to gml
""",
    "schedules": """
verify none.json
verify none.json --json
verify hosts.json
verify empty.json --json
verify cut.json
verify list.json
verify binary.json
verify p.xml
verify -
simulate none.json
simulate s.json --sizes x
simulate s.json --sizes 1G..1M
simulate s.json --sizes 0
simulate s.json --overhead-us abc
simulate s.json --overhead-us -1
simulate s.json --alpha-us nan
simulate s.json --model steps
simulate s.json -o link=l.csv
simulate s.json --costs none.json
simulate s.json --costs hosts.json
simulate s.json -o x.svg
simulate s.json -o s.json
simulate s.json -o l.csv -o links=l.csv
simulate s.json -o plot=p.txt
simulate s.json -o plot=p.pdf
simulate s.json -o a.csv -o plot=no/b.svg
simulate bundle.json --model program
simulate series.json --model program
simulate hosts.json
view s.json
view s.json -o x.txt
view none.json -o x.svg
view flows.json -o x.html
view s.json hosts.json -o x.svg
view s.json steps.json -o hosts.json
view s.json part.json -o x.svg
view - -o x.svg
""",
    "programs": """
export s.json
export s.json --to cuda
export none.json --to msccl-xml
export hosts.json --to msccl-xml
export s.json --to goal --dialect rccl
export s.json --to msccl-xml --dialect nccl
export s.json --to msccl-xml -o snippet=r.py -o p2.xml
export s.json --to mscclpp-json -o snippet=r.py
export s.json --to mscclpp-json -o a.json -o snippet=a.json
export s.json --to msccl-xml --bytes 1M
export s.json --to chakra -o -
export s.json --to astra-sim -o -
export s.json --to astra-sim -o text.txt
export s.json --to goal:chunks=abc
export s.json --to goal:blocks=0
export s.json --to goal:instances=2
export s.json --to mscclpp-json:pieces=2
export s.json --to msccl-xml:strands=2
export s.json --to msccl-xml:blocks=1 -o q.xml
view flows.json -o x.svg
export s.json --to msccl-xml:placement=both -o q.xml
export s.json --to mscclpp-json:protocol=LL128
export s.json --to msccl-xml -o q.json
export s.json --to mscclpp-json -o s.json
export bundle.json --to msccl-xml
export series.json --to msccl-xml
export exchange.json --to msccl-xml
export part.json --to msccl-xml
export steps.json --to mscclpp-json
verify none.xml
verify none.xml --json
verify s.json
verify empty.json
verify text.txt
verify binary.json --json
verify p.xml --dialect nccl
verify p.xml --root x
verify p.xml --root 1
""",
    "comparisons": """
compare ring:nodes=4 --baselines brucks
compare ring:nodes=4 --baselines nccl-ring,brucks
compare ring:nodes=4 --collective broadcast
compare ring:nodes=4 --sizes x
compare ring:nodes=4 --against none.json
compare ring:nodes=5 --baselines direct --against s.json
compare ring:nodes=4 --baselines direct --against hosts.json
compare ring:nodes=4 --baselines direct --against all.json
compare ring:nodes=4 --baselines direct --costs none.json
compare ring:nodes=4 --baselines direct --html x.pdf
compare ring:nodes=4 --baselines direct --against s.json --html s.json
compare figure-1.json
what-if ring:nodes=4
what-if ring:nodes=4 --fail cables
what-if ring:nodes=4 --fail links --upgrade
what-if ring:nodes=4 --upgrade --at-once 2
what-if ring:nodes=4 --add-link --bandwidth fast
what-if ring:nodes=4 --fail links --bandwidth 2
what-if ring:nodes=4 --fail links --at-once 0
what-if ring:nodes=4 --fail links --at-once 9
what-if ring:nodes=4 --fail nics
what-if ring:nodes=4 --fail switches
what-if ring:nodes=4 --fail links --jobs abc
what-if ring:nodes=4 --fail links --jobs 0
what-if ring:nodes=4 --fail links -o -
what-if ring:nodes=4 --fail links -o text.txt
what-if ring:nodes=4 --fail links -o a/b
what-if ring:nodes=4 --fail links --collective broadcast
what-if ring:nodes=4 --upgrade --root 0
tune ring:nodes=3 -o -
tune ring:nodes=3 -o text.txt
tune ring:nodes=3 --collective broadcast
tune ring:nodes=3 --sizes 0
tune ring:nodes=3 --costs none.json
tune ring:nodes=3 --costs machine --sizes 1M
explain dgx-a100:boxes=2
explain dgx-a100:boxes=2 --measured none.log
explain dgx-a100:boxes=2 --measured text.txt
explain ring:nodes=4 --measured nccl-tests.log
explain dgx-a100:boxes=2 --measured nccl-tests.log --collective broadcast
explain dgx-a100:boxes=2 --measured nccl-tests.log --ranks 0-3
fit
fit none.csv
fit text.txt --schedule ring:nodes=4
fit times.csv
fit times.csv --schedule ring:nodes=4 --algorithm brucks
fit times.csv --schedule ring:nodes=4 --parameters beta
fit times.csv --schedule ring:nodes=4 --model log
fit times.csv --schedule ring:nodes=4 --costs list.json
fit times.csv --schedule ring:nodes=4 -o times.csv
fit rates.csv
fit times.csv --schedule a.json --schedule b.json
""",
    "designs": """
design
design --nodes 12
design --nodes x --degree 4
design --nodes 1000000000 --degree 4
design --nodes 9999999999999999999 --degree 4
design --nodes 9 --degree 3 --only bidirectional
design --nodes 12 --degree 4 --costs alpha=5
design --nodes 12 --degree 4 --choose 99
design --nodes 12..14 --degree 4 -o plot=x.svg
design --nodes 12 --degree 4 ring:nodes=4 --jobs 2
design --nodes 12 --degree 4 --collective mix -o x.json
design --nodes 12 --degree 4 -o plot=x.html
design --nodes 12 --degree 4 -o topology=n.json -o n.json
design --nodes 12 --degree 4 dgx-a100:boxes=2
design ring:nodes=4
design ring:nodes=4 --nodes 8 --degree 4 --by degree=2
design ring:nodes=4 --by degre=2
design ring:nodes=4 --by power=1
design ring:nodes=4 --by power:1000000
design ring:nodes=4 --by product=none.json
design mesh:dims=2x3 --by line-graph
design dgx-a100:boxes=2 --by degree=2
design all.json --by degree=2
design ring:nodes=4 --by degree=2 --collective broadcast
design ring:nodes=4 --by product=hosts.json -o hosts.json
one-port ring:nodes=4
one-port ring:nodes=4 --source 9
one-port ring:nodes=4 --source 0 --method ring
one-port ring:nodes=4 --source 0 --method graph:loss=x
one-port ring:nodes=4 --source 0 --method graph:loss=100%
one-port ring:nodes=4 --source 0 --method "graph:order='0,1'"
one-port ring:nodes=4 --source 0 --method "dag:order='1,0,2,3'"
one-port ring:nodes=4 --source 0 --ports two
one-port ring:nodes=4 --source 0 --simulate 0
one-port ring:nodes=4 --source 0 -o picture=period.txt
one-port ring:nodes=4 --source 0 --method packets:count=4
one-port ring:nodes=4 --source 0 --size 1MB --method tree
one-port ring:nodes=4 --size 1MB
one-port ring:nodes=4 --source z --size 1MB
one-port ring:nodes=4 --source 0 --size much
one-port ring:nodes=4 --source 0 --size 1MB --method packets:count=0
one-port crates.json --source a --size 1MB
train-time
train-time gpt2-smal ring:nodes=4
train-time gpt2-small dgx-a100:boxes=2
train-time gpt2-small s.json
train-time gpt2-small series.json
train-time gpt2-small ring:nodes=4 --buckets x
train-time gpt2-small ring:nodes=4 --alpha fast
train-time list.json ring:nodes=4
train-time hosts.json ring:nodes=4
train-time gpt2-small ring:nodes=4 --picture x.txt
""",
    "imports and processes": """
import
import none.txt
import text.txt
import text.txt --format nvidia-smi-topo
import empty.json
import binary.json
import h100.txt
import topo.txt --format nvidia-smi-tpo
import topo.txt --format hwloc-xml
import topo.txt --nvlink fast
import topo.txt --nvlink 0
import topo.txt --speeds odd
import topo.txt --matrix ring
import topo.txt --rounding up
import topo.txt hosts.json
import hosts.json hosts.json
import edges.txt
import topo.txt topo.txt
import topo.txt -o topo.txt
import topo.txt -o x.csv
import figure-1.json -o x.txt
import figure-1.json -o x.yml
bench
bench --network none.json
bench -b x
bench --topology ring:nodes=4
bench --topology none.json
bench --library mpx
bench --collective allgahter
probe
probe -o x.txt
probe -o -
emulate
emulate ring:nodes=3
emulate ring:nodes=3 --scale fast -- true
emulate ring:nodes=3 --scale 1Gbit=1
emulate none.json --scale 1Gbit=1 -- true
""",
}
