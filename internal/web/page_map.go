package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A graph is notes and the projects that they belong to, with their places on a plane.
type graph struct {
	Nodes []node   `json:"nodes"`
	Edges [][3]int `json:"edges"` // from, to, kind: an index into Kinds
	Kinds []string `json:"kinds"`
	Left  int      `json:"left"` // notes that are not in it
}

// A node is a project (hub) or a note (mem).
type node struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Title   string  `json:"title"`
	Project string  `json:"project"`
	Type    string  `json:"type,omitempty"`
	Members int     `json:"members,omitempty"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
}

// The kinds of edges.
const (
	edgeMember = iota
	edgeProjects
	edgeTag
	edgeEntity
	edgeSupersedes
)

var edgeKinds = []string{"member", "projects", "tag", "entity", "supersedes"}

const (
	mostNodes = 5000
	mostTags  = 8 // notes of one tag that are connected
)

func mapPage(r *request) (any, error) {
	side, err := r.s.side.get(r.ctx, r.rooms)
	if err != nil {
		return nil, err
	}
	return struct {
		Project  string  `json:"project"`
		Projects []count `json:"projects"`
		Most     int     `json:"most"`
	}{r.get("project"), side.Projects, mostNodes}, nil
}

func mapData(r *request) (any, error) {
	project, limit := r.get("project"), r.number("limit", mostNodes, mostNodes)
	return keep(r, fmt.Sprint("graph ", limit, " ", project), func() (graph, error) {
		a, err := history.Map(r.ctx, r.rooms, app.Selection{Project: project}, limit)
		if err != nil {
			return graph{}, err
		}
		return drawGraph(a), nil
	})
}

// drawGraph places notes around their projects. The same notes make the same graph.
func drawGraph(a history.MapAnswer) graph {
	g := graph{Kinds: edgeKinds, Left: a.Left, Nodes: []node{}, Edges: [][3]int{}}
	hubs, at := []string{}, map[string]int{}
	members := map[string][]index.Row{}
	for _, row := range a.Rows {
		if _, ok := at[row.Project]; !ok {
			at[row.Project] = len(hubs)
			hubs = append(hubs, row.Project)
		}
		members[row.Project] = append(members[row.Project], row)
	}
	slices.SortStableFunc(hubs, func(x, y string) int { return cmp.Compare(len(members[y]), len(members[x])) })
	places := pack(hubs, members)
	for i, project := range hubs {
		at[project] = i
		n := len(members[project])
		g.Nodes = append(g.Nodes, node{
			ID: "hub:" + project, Kind: "hub", Title: shortProject(project), Project: project, Members: n,
			X: round(places[i].x), Y: round(places[i].y),
		})
	}
	byKey, byID := map[int64]int{}, map[note.ID]int{}
	for i, project := range hubs {
		rows := members[project]
		slices.SortStableFunc(rows, func(x, y index.Row) int { return cmp.Compare(x.Type, y.Type) }) // a type is a ring
		for k, row := range rows {
			radius, angle := ring*math.Sqrt(float64(k)+1.5), float64(k)*golden
			byKey[row.Key], byID[row.ID] = len(g.Nodes), len(g.Nodes)
			g.Edges = append(g.Edges, [3]int{i, len(g.Nodes), edgeMember})
			g.Nodes = append(g.Nodes, node{
				ID: string(row.ID), Kind: "mem", Title: note.Line(row.Title, 120), Project: project, Type: string(row.Type),
				X: round(places[i].x + radius*math.Cos(angle)), Y: round(places[i].y + radius*math.Sin(angle)),
			})
		}
	}
	g.connect(a, at, byKey, byID)
	return g
}

const (
	ring   = 9.0               // pixels: how close notes stand
	golden = 2.399963229728653 // radians: the angle by which no two of a spiral meet
)

type place struct{ x, y, r float64 }

// pack places circles, the largest first, on a spiral without one over another.
func pack(hubs []string, members map[string][]index.Row) (all []place) {
	for i, project := range hubs {
		p := place{r: ring*math.Sqrt(float64(len(members[project]))+1.5) + 3*ring}
		for step := 0; i > 0; step++ {
			radius, angle := 14*math.Sqrt(float64(step)), float64(step)*golden
			p.x, p.y = radius*math.Cos(angle), radius*math.Sin(angle)
			if !slices.ContainsFunc(all, func(o place) bool { return math.Hypot(o.x-p.x, o.y-p.y) < o.r+p.r }) {
				break
			}
		}
		all = append(all, p)
	}
	return all
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// connect adds the edges between notes, and between projects that share tags.
func (g *graph) connect(a history.MapAnswer, hubAt map[string]int, byKey map[int64]int, byID map[note.ID]int) {
	seen := map[[2]int]bool{}
	add := func(x, y, kind int) {
		if x > y {
			x, y = y, x
		}
		if x != y && !seen[[2]int{x, y}] {
			seen[[2]int{x, y}] = true
			g.Edges = append(g.Edges, [3]int{x, y, kind})
		}
	}
	tags, order := map[string][]int{}, []string{}
	shared := map[[2]int]int{}
	hubTags := map[string]map[int]bool{}
	for _, row := range a.Rows {
		for _, t := range row.Tags {
			if tags[t] == nil {
				order = append(order, t)
				hubTags[t] = map[int]bool{}
			}
			tags[t] = append(tags[t], byKey[row.Key])
			hubTags[t][hubAt[row.Project]] = true
		}
		if by, ok := byID[row.SupersededBy]; ok && row.SupersededBy != "" {
			add(byKey[row.Key], by, edgeSupersedes)
		}
	}
	for _, t := range order {
		if n := len(tags[t]); n >= 2 && n <= mostTags {
			for i := 1; i < n; i++ {
				add(tags[t][i-1], tags[t][i], edgeTag)
			}
		}
		hubs := slices.Sorted(func(yield func(int) bool) {
			for h := range hubTags[t] {
				if !yield(h) {
					return
				}
			}
		})
		if len(hubs) > mostTags {
			continue
		}
		for i, x := range hubs {
			for _, y := range hubs[i+1:] {
				shared[[2]int{x, y}]++
			}
		}
	}
	spoken := map[history.Entity][]int{}
	for _, row := range a.Rows {
		for _, e := range a.Entities[row.Key] {
			spoken[e] = append(spoken[e], byKey[row.Key])
		}
	}
	for _, row := range a.Rows { // in the order of the rows, so that it is always the same
		for _, e := range a.Entities[row.Key] {
			for i := 1; i < len(spoken[e]); i++ {
				add(spoken[e][i-1], spoken[e][i], edgeEntity)
			}
		}
	}
	g.neighbours(shared, len(hubAt), add)
}

// neighbours connects each project with the two that share most tags with it.
func (g *graph) neighbours(shared map[[2]int]int, hubs int, add func(x, y, kind int)) {
	near := make([][][2]int, hubs) // of each project: another, and how many tags
	for pair, n := range shared {
		near[pair[0]] = append(near[pair[0]], [2]int{pair[1], n})
		near[pair[1]] = append(near[pair[1]], [2]int{pair[0], n})
	}
	for h, all := range near {
		slices.SortFunc(all, func(x, y [2]int) int { return cmp.Or(cmp.Compare(y[1], x[1]), cmp.Compare(x[0], y[0])) })
		for _, other := range all[:min(2, len(all))] {
			add(h, other[0], edgeProjects)
		}
	}
}
