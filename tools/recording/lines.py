"""Command lines that succeed, by subject. Each block runs in a folder of its own, in order, with all input files."""

LINES = {
    "trees": """
generate dgx-a100:boxes=2 --trees 1 -v
generate dgx-a100:boxes=2 --trees 3 -o three.json -v
generate dgx-a100:boxes=2 --max-trees 4 --json -o four.json
generate mi250:boxes=2,gpus=8 --max-trees 6
optimum mi250:boxes=2 --trees 2
optimum mi250:boxes=2 --max-trees 4 --json
optimum dgx-a100:boxes=2 --max-trees 20
optimum dgx-a100:boxes=2 --collective allreduce --max-trees 2
optimum dgx-a100:boxes=2 --collective allreduce --trees 3
optimum unbalanced.json --trees 1
optimum unbalanced.json --trees 2
optimum unbalanced.json --json
optimum odd.json
optimum odd.json --collective allreduce --json
optimum hosts.json
optimum hosts.json --collective allreduce
optimum hosts.json --collective broadcast --root a --json
optimum crates.json --collective AllReduce
generate odd.json --collective reduce_scatter -o odd-trees.json
verify odd-trees.json --json
generate unbalanced.json -o unbalanced-trees.json
verify unbalanced-trees.json
optimum ring:nodes=3,bandwidth=1e38
optimum ring:nodes=3,bandwidth=400Gb/s --json
optimum cluster:box=dgx-h100,boxes=32,rails=8,boxes_per_leaf=16,oversubscription=2
optimum cluster:box=hosts.json,boxes=3,nics=4,nic_bandwidth=25
optimum cluster:box=dgx-1,dims=2x2,dim_bandwidth=25
generate cluster:box=hgx-a100-4,boxes=4,planes=2,boxes_per_leaf=2,pod_leaves=1,pod_oversubscription=2 -o cluster.json
verify cluster.json
""",
    "trees fast and proven": """
generate mi250:boxes=2,gpus=8 --method fast -o fast.json -v
generate mi250:boxes=2,gpus=8 --method proven -o proven.json -v
generate dgx-h100:boxes=2,gpus=4,nvls=true --method proven --collective allreduce -o nvls.json
generate fat-tree:levels=2,arity=3 --method proven -o fat.json.gz
generate hosts.json --method proven --collective reduce --root d -o reduce.json
generate odd.json --method fast
verify proven.json
verify fat.json.gz --json
verify reduce.json
""",
    "trees compact": """
generate dgx-a100:boxes=3 --compact -o a.json
generate torus:dims=3x4x2 --compact --collective allreduce -o b.json
generate circulant:nodes=9,offsets=1+3,one_way=true --compact --collective reduce-scatter -o c.json
generate ring:nodes=6 --compact --collective broadcast --root 2 -o d.json
generate torus:dims=4x4 --compact --collective all-to-all -o e.json
generate dgx-a100:boxes=64 --compact -o f.json.gz
generate dgx-a100:boxes=2 --compact --without b0/gpu0--ib -o g.json
verify a.json
verify b.json --json
verify c.json
verify e.json --json
verify f.json.gz
simulate a.json --sizes 1M,1G
simulate b.json --json --sizes 64K,1G
simulate e.json --sizes 1M
export a.json --to msccl-xml -o a.xml
export e.json --to msccl-xml -o e.xml
""",
    "few peers": """
generate dgx-a100:boxes=4,gpus=4 --max-peers 3 -o one.json
generate dgx-a100:boxes=4,gpus=4 --max-peers 2 --collective allreduce -o two.json
generate dgx-a100:boxes=4,gpus=4 --max-peers 2 --collective all-to-all -o three.json
optimum mi250:boxes=2,gpus=8 --max-peers 1 --json
optimum dgx-a100:boxes=4,gpus=4 --max-peers 2 --collective all-to-all
verify one.json
verify two.json --json
verify three.json
""",
    "ranks": """
optimum dgx-a100:boxes=2 --ranks 0-3,8-11
optimum dgx-a100:boxes=2 --ranks 0-3,8-11 --json
optimum mi250:boxes=2 --ranks 0-7,16-23 --collective allreduce
optimum mi250:boxes=2 --ranks 0-7,16-23 --no-relays --json
generate mi250:boxes=2 --ranks 0-7,16-23 -o half.json
generate ring:nodes=6 --ranks 0,2,4 --collective broadcast --root 2 -o ring.json
generate dgx-a100:boxes=2 --ranks b0/gpu0,b1/gpu3 --collective all-to-all -o pair.json
generate split.json --ranks a,b -o part.json
verify half.json
verify ring.json --json
verify pair.json
optimum dgx-a100:boxes=2 --all --ranks 0-3
compare dgx-a100:boxes=2 --ranks 0-3,8-11 --baselines nccl-ring,two-level,bruck --sizes 1M,1G
""",
    "shards": """
optimum ring:nodes=4 --shards shards.json
optimum ring:nodes=4 --shards shards.json --json
generate ring:nodes=4 --shards shards.json -o a.json
generate ring:nodes=4 --shards shards.json --collective reduce-scatter -o b.json
generate ring:nodes=4 --shards shards.json --collective gather --root 1 -o c.json
verify a.json
verify b.json --json
verify c.json
simulate a.json --sizes 1M
""",
    "demands": """
optimum dgx-a100:boxes=2,gpus=2 --collective all-to-all --demand demand.csv
optimum dgx-a100:boxes=2,gpus=2 --collective all-to-all --demand demand.csv --json
generate dgx-a100:boxes=2,gpus=2 --collective all-to-all --demand demand.csv -o a.json
generate ring:nodes=3 --collective all-to-all --demand three.csv -o b.json -v
verify a.json
verify b.json --json
simulate a.json --sizes 1M..4M
view a.json -o a.svg
""",
    "pieces": """
optimum dgx-a100:boxes=2,gpus=2 --demand pieces.json
optimum dgx-a100:boxes=2,gpus=2 --demand pieces.json --json
generate dgx-a100:boxes=2,gpus=2 --demand pieces.json -o members=members -o pieces-bundle.json
generate dgx-a100:boxes=2,gpus=2 --demand pieces.json --json
verify pieces-bundle.json
verify pieces-bundle.json --json
verify members/group-1.json
simulate pieces-bundle.json --sizes 1M,1G
view pieces-bundle.json -o pieces.svg
view pieces-bundle.json -o pieces.html
""",
    "groups": """
optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --collective allreduce
optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --collective allreduce --json
optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --collective allreduce --all
optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --collective allreduce --all --json
optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --run tp,dp --group-sizes 4,1 --collective allreduce
optimum dgx-a100:boxes=2 --groups 0,8;1,9 --group-sizes 1,2 --json
optimum hypercube:dim=3 --groups groups.json
optimum hypercube:dim=3 --groups groups.json --json
generate dgx-a100:boxes=2 --layout tp=8,dp=2 --collective allreduce -o members=members -o bundle.json
generate dgx-a100:boxes=2 --groups 0,8;1,9 --no-relays --json
generate mi250:boxes=2,gpus=8 --groups 0-7;8-15 -o other.json.gz -v
verify bundle.json
verify bundle.json --json
verify members/group-3.json
verify other.json.gz
simulate bundle.json --sizes 1M,1G
simulate other.json.gz --sizes 1G --json
view bundle.json -o bundle.svg
""",
    "changes": """
optimum dgx-a100:boxes=2 --without b0/gpu0--ib
optimum dgx-a100:boxes=2 --without b0/gpu0--ib b0/gpu1--ib --degrade b1/gpu0--ib=12.5 --json
generate dgx-a100:boxes=2 --without b0/gpu0--ib -o broken.json
generate torus:dims=3x3 --method bfb --without 0--1 -o steps.json
generate dgx-h100:boxes=2,gpus=4,nvls=true --no-in-network --collective allreduce -o plain.json
generate dgx-h100:boxes=2,gpus=4,nvls=true --collective allreduce -o nvls.json
optimum dgx-h100:boxes=1,nvls=true --collective allreduce
optimum dgx-h100:boxes=1,nvls=true --collective allreduce --no-in-network --json
verify broken.json
verify steps.json
verify nvls.json --json
""",
    "bounds": """
optimum torus:dims=3x3 --all --root 0 --json
optimum torus:dims=4x4 --collective scatter --root 0
optimum torus:dims=3x3 --collective gather --root 0 --json
optimum mi250:boxes=2,gpus=8 --collective allreduce
optimum dgx-a100:boxes=2 --collective all-to-all --json
optimum hosts.json --all
optimum odd.json --all --json
optimum unbalanced.json --all
optimum crates.json --all
optimum dgx-h100:boxes=2,nvls=true --all
optimum hypercube:dim=4 --all
optimum ring:nodes=3,bandwidth=1e38 --all --json
""",
    "simulate": """
generate ring:nodes=4 --collective allreduce -o s.json
generate dgx-a100:boxes=2,gpus=2 -o a.json
simulate s.json --sizes 1MiB..1GiB
simulate s.json --alpha-us 2 -o times.csv -o links=links.csv --sizes 1M,1G
simulate s.json --overhead-us 0 --costs costs.json --sizes 1K..1G --json
simulate s.json --model program --sizes 1K,1M,1G
simulate s.json --model program --costs costs.json --sizes 1M --json
simulate s.json --sizes 1M,2M -o gantt=gantt.svg -o trace=trace.json
simulate s.json --sizes 1M,8M -o plot=plot.svg
simulate s.json --sizes 1M -o plot=plot.png
simulate s.json --sizes 1M -o -
simulate s.json --sizes 1M -o links=- --json
simulate a.json --model program --sizes 64K,1G
simulate - --sizes 1M < a.json
""",
    "compare": """
compare dgx-a100:boxes=2
compare dgx-a100:boxes=2 --collective allreduce --html report.html
compare dgx-a100:boxes=2 --baselines nccl-ring,two-level
compare dgx-a100:boxes=2 --baselines nccl-ring --costs costs.json --sizes 1M,1G
compare dgx-a100:boxes=2 --baselines nccl-ring --against graph.xml --sizes 1G
compare dgx-h100:boxes=2,nvls=true --collective allreduce --baselines nccl-tree,nvls,nvls-tree --html nvls.html
compare mi250:boxes=2 --collective reduce-scatter --baselines rccl-ring,multitree,direct --json
compare ring:nodes=4
compare ring:nodes=4 --collective allreduce --html ring.html
compare hypercube:dim=2 --baselines milp,tacos,swing,bine,pat
compare torus:dims=4x4 --baselines swing-torus,swing,bruck,blink,multitree-source --html torus.html
compare hosts.json --collective allreduce --baselines blink-switch,single-root,multitree
compare odd.json --baselines direct,bruck,tacos --sizes 1M --html -
""",
    "compare with files": """
generate ring:nodes=4 --method bfb -o steps.json
generate ring:nodes=4 -o trees.json
export trees.json --to msccl-xml -o program.xml
export trees.json --to mscclpp-json -o plan.json
compare ring:nodes=4 --baselines direct --against steps.json trees.json program.xml plan.json
compare ring:nodes=4 --baselines direct --against steps.json --against trees.json --json
compare ring:nodes=4 --baselines direct --against steps.json program.xml --html report.html
""",
    "tune": """
tune ring:nodes=3 --sizes 1K..64K -o tuned
tune hypercube:dim=2 --collective allreduce --sizes 1K..1M -o tuned-cube
tune dgx-a100:boxes=2,gpus=2 --collective reduce-scatter --sizes 16K,4M --dialect rccl -o tuned-boxes
tune ring:nodes=3 --sizes 64K..64M --costs costs.json --costs LL=low.json --json
tune dgx-a100:boxes=1,gpus=4 --collective allreduce --sizes 64K,64M --costs machine
tune dgx-a100:boxes=2,gpus=2 --sizes 1K,1M
tune dgx-a100:boxes=2,gpus=2 --collective allreduce --sizes 16K
tune dgx-a100:boxes=1,gpus=4 --ranks 0,2 --sizes 1M
""",
    "view": """
view dgx-a100:boxes=2 -o network.svg
view dgx-a100:boxes=2 -o network.html
view dgx-a100:boxes=2 -o network.png
view hosts.json -o hosts.html --json
view split.json -o split.svg
view topo.txt -o topo.svg
generate dgx-a100:boxes=2 -o trees.json
generate dgx-a100:boxes=2 --trees 1 -o few.json
generate ring:nodes=5 --method bfb --collective allreduce -o steps.json
generate dgx-a100:boxes=2,gpus=2 --collective all-to-all -o flows.json
generate dgx-h100:boxes=1,nvls=true --collective allreduce -o nvls.json
one-port figure-1.json --source s -o series.json
view trees.json -o trees.html
view trees.json -o trees.svg
view trees.json few.json -o beside.svg
view steps.json -o steps.html
view steps.json -o steps.svg
view nvls.json -o nvls.html
view series.json -o series.html
view series.json -o series.svg
view - -o stdin.svg < trees.json
""",
    "what-if": """
what-if dgx-a100:boxes=2 --fail links
what-if dgx-a100:boxes=2 --fail links --json
what-if dgx-a100:boxes=2 --fail switches --json
what-if dgx-a100:boxes=3 --fail boxes
what-if dgx-a100:boxes=2 --fail nics -o failover
what-if dgx-a100:boxes=2,gpus=2 --fail nics --at-once 2
what-if dgx-a100:boxes=2,gpus=2 --fail nics --at-once 2 --json
what-if ring:nodes=4 --fail links -o ring-failover --json
what-if ring:nodes=6 --fail links --jobs 2 --collective allreduce
what-if dgx-a100:boxes=2 --upgrade
what-if mi250:boxes=2 --upgrade --json
what-if hosts.json --collective allreduce --upgrade
what-if mesh:dims=4 --add-link
what-if mesh:dims=4 --add-link --bandwidth 2 --json
what-if mesh:dims=2x3 --add-link --collective broadcast --root 0
what-if dgx-a100:boxes=2 --without b0/gpu0--ib --json
what-if dgx-a100:boxes=2 --degrade b0/gpu0--ib=12.5
what-if dgx-a100:boxes=2 --ranks 0-3 --fail nics
""",
    "design": """
design --nodes 12 --degree 4
design --nodes 12 --degree 4 --json
design --nodes 12 --degree 4 --size 1MB -o topology=network.json
design --nodes 12 --degree 4 --collective allgather -o topology=n.json -o steps.json
design --nodes 36 --degree 4 torus:dims=3x3 -o plot=frontier.svg -o picture=net.svg
design --nodes 32 --degree 4 --only published --size 1MB --collective mix
design --nodes 9 --degree 4 --only published --only bidirectional --json
design --nodes 12 --degree 4 --size 1MB --costs alpha=5,bandwidth=25,reduction=100 --collective all-to-all
design --nodes 12 --degree 4 --choose 2 -o chosen.json -o picture=chosen.html
design --nodes 5..8 --degree 4 --only bidirectional --json
design --nodes 5..6 --degree 3..4 --size 1MB
design --nodes 8..9 --degree 4 --jobs 2
design --nodes 12 --degree 2 --only published -o plot=plot.png
verify steps.json
verify chosen.json --json
""",
    "expansions": """
design torus:dims=3x3 --by line-graph -o schedule.json
design ring:nodes=5 --by degree=2 --by breadth-first --json
design schedule.json --by product=torus:dims=3x3 --collective allreduce
design ring:nodes=3 --by power=2 --collective reduce-scatter -o power.json -o topology=network.json
design kautz:degree=2,length=2 --by bidirectional --by parallel=2
design kautz:degree=2,length=1 --by line-graph=2 --json
verify schedule.json
verify power.json --json
""",
    "one port": """
one-port figure-1.json --source s
one-port figure-1.json --source s --json
one-port figure-1.json --source s --method dag
one-port figure-1.json --source s --method tree --simulate 100
one-port figure-1.json --source s --method "dag:order='s,1,2,3,4'" -o dag.json
one-port figure-1.json --source s --ports send
one-port figure-1.json --source s --ports receive --json
one-port line.json --source a --ports half
one-port figure-1.json --source s --ports all --simulate 10 --json
one-port torus:dims=3x3 --source 0 --ports one --method graph:loss=5% -o torus.json
one-port tiers --source 0 -o picture=period.svg -o tiers.json
one-port ring:nodes=5 --source 0 -o series.json
verify dag.json
verify torus.json --json
verify tiers.json
simulate torus.json --sizes 1M,1G
simulate series.json --sizes 1M --json
one-port ring:nodes=5 --source 0 --size 256MiB
one-port line.json --source a --size 1MB --method packets:count=4 --json
one-port figure-1.json --source s --size 1GB -o packets.json
one-port figure-1.json --source s --size 1MB --ports one -o picture=times.svg
one-port tiers:wide=3,areas=1,metropolitan=2,offices=1,local=2,seed=5 --source 0 --size 1MB --json
verify packets.json
""",
    "port models": """
one-port shared.json --source s
one-port shared.json --source s --json -o shared-series.json
one-port slow.json --source s
one-port slow.json --source s --ports all --json
one-port triangle.json --source s
one-port complete:nodes=5 --source 0 --ports half -o half.json
one-port generalized-petersen --source 0 --ports half --json
one-port dgx-a100:boxes=1 --source b0/gpu0 --ports one -o boxes.json
one-port dgx-a100:boxes=2,gpus=2 --source b0/gpu0 --ports send --json
one-port ring:nodes=4 --source 0 --ports bounded
verify shared-series.json
verify half.json
verify boxes.json --json
one-port slow.json --source s --size 1MB --json
one-port shared.json --source s --size 1MB
""",
    "larger programs": """
generate mi300x --collective reduce --root b0/gpu0 -o r.json
generate dgx-a100:boxes=2,gpus=4 --collective reduce --root b0/gpu0 -o s.json
generate dgx-a100:boxes=4,gpus=4 -o t.json
generate dgx-a100:boxes=4,gpus=4 --collective all-to-all -o u.json
export r.json --to mscclpp-json -o r.plan.json
export r.json --to msccl-xml --dialect azure -o r.xml
export s.json --to mscclpp-json -o s.plan.json
export t.json --to msccl-xml --dialect azure -o t.xml
export t.json --to mscclpp-json -o t.plan.json
export u.json --to msccl-xml -o u.xml
""",
    "tables of the finder": """
design --nodes 8 --degree 2 --collective allgather -o a.json
design --nodes 9 --degree 3 --collective allgather -o b.json --json
design --nodes 16 --degree 2 --collective allgather -o c.json
design --nodes 16 --degree 4 --collective allreduce -o d.json
design --nodes 24 --degree 4 --only bidirectional -o e.json -o topology=f.json
design --nodes 27 --degree 3 --collective allgather -o g.json
design --nodes 32 --degree 2 --only published --json
design --nodes 8 --degree 2 --only published -o i.json
design --nodes 16 --degree 2 --only published --choose 'DBJMod(2,4)' -o j.json
verify i.json
verify j.json --json
design --nodes 64 --degree 4 --only published --choose 4 -o h.json
""",
    "train-time": """
train-time switch-base-256 torus:dims=4x4
train-time switch-base-256 ring:nodes=8 --buckets 25MB,100MB --json
train-time gpt2-small circulant:nodes=12,offsets=2+3
train-time gpt2-medium hypercube:dim=3 --alpha 1/2 --json
train-time vgg-16 ring:nodes=4 --picture timeline.svg
train-time profile.json ring:nodes=4
generate dgx-a100:boxes=2 --collective allreduce -o schedule.json
train-time resnet-50 schedule.json
train-time switch-c-2048 torus:dims=4x4x2 --buckets 1GB
""",
    "fit": """
fit nccl-tests.log --schedule dgx-a100:boxes=2 --algorithm nccl-ring -o fitted.json
fit nccl-tests.log --schedule dgx-a100:boxes=2 --algorithm nccl-ring --model alpha-beta --json
fit times.csv --schedule ring:nodes=4 --json
fit times.csv --schedule ring:nodes=4 --parameters alpha_us,efficiency --costs low.json
generate ring:nodes=4,bandwidth=25 -o ring.json
fit rates.csv --json
fit times.csv rates.csv --schedule ring.json --schedule ring.json
compare dgx-a100:boxes=2 --baselines nccl-ring --costs fitted.json
simulate ring.json --costs fitted.json --sizes 1M
""",
    "explain": """
explain dgx-a100:boxes=2 --measured nccl-tests.log
explain dgx-a100:boxes=2 --measured nccl-tests.log --json
explain dgx-a100:boxes=2 --measured nccl-tests.log --collective allgather
explain mi250:boxes=1 --measured - < nccl-tests.log
""",
    "networks": """
topology
topology --json
topology dgx --json
topology ring:nodes=4 --to graphml
topology dgx-a100:boxes=2 -o a.graphml
topology dgx-a100:boxes=2 -o a.txt
topology dgx-a100:boxes=1 -o t.yml
topology ring:nodes=4 -o t.yml --json
topology ring:nodes=5 -o r.json.gz --json
topology topo.txt
topology hosts.json -o -
topology - < hosts.json
import a.graphml -o b.json
import a.txt --json
import topo.txt
import topo.txt --nvlink 200Gb/s --json -o topo.json
import h100.txt --nvlink 25 -o h100.graphml
import topo.txt topo.txt --nic 50 --json
import edges.txt --format edge-list --link-bandwidth 10 -o -
import hosts.json --json
import r.json.gz
optimum a.graphml --json
optimum topo.txt
optimum a.txt
optimum cluster:box=topo.txt,boxes=2,nics=4,nic_bandwidth=50
view a.graphml -o a.svg
""",
    "standard streams": """
generate ring:nodes=3 -o -
generate ring:nodes=3 --json -o -
generate ring:nodes=3 --method bfb -o -
generate ring:nodes=3 --collective all-to-all -o -
generate ring:nodes=4 --groups 0,1;2,3 -o -
generate ring:nodes=3 -o s.json
verify - < s.json
verify - --json < s.json
export - --to msccl-xml -o - < s.json
export - --to mscclpp-json -o - --json < s.json
export s.json --to goal -o p.goal
verify - < p.goal
fit - --schedule ring:nodes=4 -o - < times.csv
topology ring:nodes=3 -o - --json
one-port ring:nodes=3 --source 0 -o -
design ring:nodes=3 --by degree=2 -o -
optimum - < hosts.json
""",
}
