// SPDX-License-Identifier: Apache-2.0

// A driver in Go: each file in a folder is a sled of a chassis, and a node.
//
//	[DEFAULT]
//	compute_driver = exec:/usr/local/libexec/sleds
//	[exec]
//	environment = SLEDS:/etc/sleds
//
// A file such as /etc/sleds/sled-7.json has {"uuid": "…", "gpus": 4, "watts": 900}.
// "go build" makes the program; it needs no package besides Go's own.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Question has what the agent writes to stdin.
type Question struct {
	Node struct {
		Name string `json:"name"`
	} `json:"node"`
}

// Sled is the content of a file.
type Sled struct {
	UUID  string `json:"uuid"`
	GPUs  *int   `json:"gpus"`
	Watts *int   `json:"watts"`
}

type object map[string]any

const version = 1

func folder() string {
	if given := os.Getenv("SLEDS"); given != "" {
		return given
	}
	return "/etc/sleds"
}

func read(name string) (Sled, error) {
	var found Sled
	content, err := os.ReadFile(filepath.Join(folder(), name+".json"))
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal(content, &found); err != nil {
		return found, fmt.Errorf("%s: %w", name, err)
	}
	// A number that is missing is not zero.
	if found.UUID == "" || found.GPUs == nil || found.Watts == nil {
		return found, fmt.Errorf("%s lacks uuid, gpus or watts", name)
	}
	return found, nil
}

// list names the sleds. A sled whose file cannot be read fails the whole list:
// a shorter one would say that it departed.
func list() (object, error) {
	entries, err := os.ReadDir(folder())
	if err != nil {
		return nil, err
	}
	nodes := []object{}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".json")
		if name == entry.Name() {
			continue
		}
		sled, err := read(name)
		if err != nil {
			return nil, err
		}
		// While the facts stay the same, the agent does not ask "describe".
		facts := []int{*sled.GPUs, *sled.Watts}
		nodes = append(nodes, object{"name": name, "uuid": sled.UUID, "facts": facts})
	}
	return object{"version": version, "nodes": nodes}, nil
}

func describe(name string) (object, error) {
	sled, err := read(name)
	if err != nil {
		return nil, err
	}
	children := []object{}
	for at := 0; at < *sled.GPUs; at++ {
		children = append(children, object{
			"name":        fmt.Sprintf("%s_gpu%d", name, at),
			"inventories": object{"CUSTOM_GPU": 1},
		})
	}
	node := object{
		"name":        name,
		"inventories": object{"CUSTOM_WATT": *sled.Watts},
		"traits":      []string{"CUSTOM_SLED"},
		"children":    children,
	}
	return object{"version": version, "nodes": []object{node}}, nil
}

func exists(name string) (object, error) {
	answer := "yes"
	if _, err := os.Stat(folder()); err != nil {
		return nil, err // a folder that is away has lost no sled
	}
	if _, err := os.Stat(filepath.Join(folder(), name+".json")); os.IsNotExist(err) {
		answer = "no"
	} else if err != nil {
		return nil, err
	}
	return object{"version": version, "exists": answer}, nil
}

func answer(call string, question Question) (object, error) {
	switch call {
	case "list":
		return list()
	case "describe":
		return describe(question.Node.Name)
	case "exists":
		return exists(question.Node.Name)
	}
	os.Exit(3) // this program does not have the call
	return nil, nil
}

func main() {
	var question Question
	err := json.NewDecoder(os.Stdin).Decode(&question)
	if err == nil && len(os.Args) > 1 {
		var found object
		if found, err = answer(os.Args[1], question); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(found)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
